"""``weigh audit FILE``: every numeric claim of an article or a model card, checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh audit notes.md
  weigh audit README.md --model . --lang zh
  weigh audit article.html --html > audited.html
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="article, model card or notes: Markdown, HTML, text, .ipynb; - for standard input"
    )
    parser.add_argument("--model", metavar="SOURCE", help="the model it is about (default: what its names and sizes tell)")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the verdicts: en (default) or zh")
    parser.add_argument("--all", dest="every", action="store_true", help="show exact claims too")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", dest="form", action="store_const", const="json", help="print JSON")
    group.add_argument("--markdown", dest="form", action="store_const", const="markdown", help="print a table in Markdown")
    group.add_argument("--html", dest="form", action="store_const", const="html", help="print the text marked up, as a page")


def run(args: Namespace) -> int:
    """Audit each file; 1 if any claim is wrong."""
    from weighbridge.api import model
    from weighbridge.auditing import audit
    from weighbridge.core.messages import translator
    from weighbridge.documents import audit as auditing

    say = translator(args.lang)
    against = model(args.model) if args.model else None
    code, answers = 0, []
    for name in args.files:
        found = audit(_read(name), name=name, model=against)
        code = code or int(bool(found.wrong))
        if args.form == "json":
            answers.append({"file": name, **auditing.as_json(found, say)})
            continue
        if len(args.files) > 1 and args.form != "html":
            print(f"{name}:" if args.form is None else f"## {name}\n")
        if args.form == "html":
            print(auditing.as_html(found, say, name), end="")
        else:
            write = auditing.as_markdown if args.form == "markdown" else auditing.as_text
            print(write(found, say, every=args.every), end="")
    if answers:
        shared.print_json(answers[0] if len(answers) == 1 else answers)
    return code


def _read(name: str) -> bytes:
    from weighbridge.core.errors import ReadError

    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=name) from None
