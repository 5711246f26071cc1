"""``weigh census SOURCES -o OUT`` and ``weigh census query OUT QUESTION``."""

from __future__ import annotations

from weighbridge.commands.options import LANG, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = """example:
  weigh census models/ -o census.parquet
  weigh census dump.jsonl @ids.txt 's3://bucket/models/' -o census.parquet --jobs 8
  weigh census query census.parquet largest
  weigh census query census.parquet \\
    "select class, count(*) from census group by class"
"""
OPTIONS = (
    Option(
        "sources",
        mark(
            "folders, files, globs, tables (.jsonl, .parquet), archives, @lists, s3://, gs:// and az:// folders, Hub ids;"
            " or: query OUT QUESTION"
        ),
        "SOURCE",
        flag="",
        many=True,
        needed=True,
    ),
    Option("out", mark("the folder for the Parquet parts; an unfinished census in it is resumed"), "OUT", flag="--output", short="-o"),
    Option("jobs", mark("processes (default: one per core)"), "N", kind="whole"),
    Option("cluster", mark("a Dask scheduler, such as tcp://host:8786, whose workers do the work"), "ADDRESS"),
    Option("fresh", mark("start over instead of resuming"), kind="switch"),
    Option("seconds", mark("seconds that each file may take (default 60)"), "S", kind="whole", default=60),
    Option("form", mark("print JSON"), kind="switch", const="json", flag="--json"),
    Option("form", mark("print the tables as CSV"), kind="switch", const="csv", flag="--csv"),
    LANG,
)


def run(arguments: Arguments) -> int:
    """Take a census, or ask one."""
    from weighbridge.commands import output
    from weighbridge.core.errors import UsageError

    if arguments.sources[0] == "query":
        output.deliver(_answer_question(arguments), arguments)
        return 0
    if not arguments.out:
        raise UsageError("census: name the folder for the Parquet parts with -o OUT")
    from weighbridge.documents import census as documents
    from weighbridge.inventory.run import census

    options = {"jobs": arguments.jobs, "cluster": arguments.cluster, "fresh": bool(arguments.fresh), "seconds": float(arguments.seconds)}
    found = census(arguments.sources, arguments.out, progress=_progress(), **options)
    output.deliver(Answer(lambda: documents.as_json(found), lambda: documents.document(found, arguments.lang)), arguments)
    return 0


def _answer_question(arguments: Arguments) -> Answer:
    from weighbridge.core.errors import UsageError
    from weighbridge.documents import census as documents
    from weighbridge.inventory.query import QUESTIONS, ask

    if len(arguments.sources) != 3:
        raise UsageError(
            Text("census query: expected OUT and a question: {questions}, or a SELECT over census", questions=", ".join(QUESTIONS))
        )
    _, folder, question = arguments.sources
    found = ask(folder, question)
    return Answer(lambda: documents.answer_json(found), lambda: documents.answer_document(question, found, arguments.lang))


def _progress() -> Callable[[int, float, int | None], None] | None:
    """Return what shows the rows done, their rate and the time left on a terminal, at most twice a second."""
    import sys

    if sys.stderr is None or not sys.stderr.isatty():
        return None
    shown = [0.0]

    def show(rows: int, seconds: float, total: int | None) -> None:
        if seconds - shown[0] >= 0.5:
            shown[0] = seconds
            print(f"\r{progress_line(rows, seconds, total)} ", end="", file=sys.stderr, flush=True)

    return show


def progress_line(rows: int, seconds: float, total: int | None) -> str:
    """Say how far a census is.

    >>> progress_line(5000, 2.0, None), progress_line(5000, 2.0, 20000)
    ('5,000 models, 2,500 a second', '5,000 of 20,000 models, 2,500 a second, 0:06 left')
    """
    rate = rows / max(seconds, 1e-9)
    if total is None or not rate:
        return f"{rows:,} models, {rate:,.0f} a second"
    left = round(max(total - rows, 0) / rate)
    return f"{rows:,} of {total:,} models, {rate:,.0f} a second, {left // 60}:{left % 60:02} left"
