"""``weigh audit FILE``: every numeric claim of an article or a model card, checked."""

from __future__ import annotations

from weighbridge.commands import output
from weighbridge.commands.options import CLASS, OUTPUT, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = """example:
  weigh audit notes.md
  weigh audit README.md --model . --lang zh
  weigh audit article.html --html > audited.html
  weigh audit docs/ --format github
"""
ENDINGS = (".md", ".markdown", ".txt", ".rst", ".org", ".tex", ".html", ".htm", ".ipynb")
"""What is read of a folder."""
MOST_FILES = 200_000
"""The most files and folders of a folder that are looked at for texts."""
FORMS = mark("output format; github and sarif are annotations for a pull request")
OPTIONS = (
    Option(
        "files",
        mark("article, model card or notes: Markdown, HTML, text, .ipynb; a folder of them; - for standard input"),
        "FILE",
        flag="",
        many=True,
        needed=True,
    ),
    Option(
        "model_source",
        mark("the model that the text is about (default: inferred from its names and sizes)"),
        "SOURCE",
        flag="--model",
        local=True,
    ),
    Option("every", mark("show exact claims too, and those that were not judged"), kind="switch", flag="--all", local=True),
    *(
        option._replace(choices=(*option.choices, "github", "sarif"), help=FORMS) if option.switch == "--format" else option
        for option in OUTPUT
    ),
)
API_OPTIONS = (
    Option("name", mark("the file's name"), default=""),
    Option("source", mark("the model that the text is about (default: inferred from its names and sizes)")),
    Option("config", mark("a config as JSON text, in place of source")),
    CLASS,
)
"""What the API takes beside the text, where there are no files."""


def run(arguments: Arguments) -> int:
    """Audit each file; 1 if any claim is wrong."""
    from weighbridge.auditing import audit
    from weighbridge.core.errors import UsageError
    from weighbridge.core.messages import translator
    from weighbridge.documents import audit as document

    say = translator(arguments.lang)
    against = arguments.model(arguments.model_source) if arguments.model_source else None
    names = [name for given in arguments.files for name in _files(given)]
    if not names:
        raise UsageError(Text("{folder}: no text in this folder; known: {endings}", folder=arguments.files[0], endings=", ".join(ENDINGS)))
    audits = [(name, audit(_read(name), name=name, model=against)) for name in names]
    if arguments.form == "json":
        answers = [{"file": name, **document.as_json(found, say)} for name, found in audits]
        output.emit_json(answers[0] if len(answers) == 1 else answers)
    elif arguments.form in ("github", "sarif"):
        from weighbridge.documents import audit_annotations

        output.emit((audit_annotations.as_github if arguments.form == "github" else audit_annotations.as_sarif)(audits, say))
    else:
        for name, found in audits:
            if arguments.form == "html" and not arguments.output:
                output.emit(document.as_html(found, say, name))
            else:
                laid = document.document(found, name if len(audits) > 1 or arguments.output else "", arguments.lang, every=arguments.every)
                output.deliver(Answer(dict, lambda laid=laid: laid), arguments)  # type: ignore[misc]
    return int(any(found.wrong for _, found in audits))


def answer(arguments: Arguments) -> Answer:
    """Audit one text, for the API."""
    from weighbridge.auditing import audit
    from weighbridge.core.messages import translator
    from weighbridge.documents import audit as document

    found = audit(arguments.text, name=arguments.name, model=arguments.model() if arguments.source or arguments.config else None)
    return Answer(lambda: {"file": arguments.name, **document.as_json(found, translator(arguments.lang))})


def _files(name: str) -> Iterator[str]:
    """Yield a file's name, or those of the texts in a folder, in order."""
    import os

    from weighbridge.core.errors import UsageError

    if name == "-" or not os.path.isdir(name):
        yield name
        return
    met = 0
    for folder, inner, files in os.walk(name, onerror=_refuse_folder):
        met += len(inner) + len(files)
        if met > MOST_FILES:
            raise UsageError(Text("{folder}: more than {most:,} files; name a folder inside it", folder=name, most=MOST_FILES))
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        yield from (os.path.join(folder, file) for file in sorted(files) if file.lower().endswith(ENDINGS))


def _refuse_folder(error: OSError) -> None:
    """Refuse an audit of a folder that is not all there to be read: what it leaves out would be taken for right."""
    from weighbridge.core.errors import ReadError

    raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(error.filename))


def _read(name: str) -> bytes:
    from weighbridge.core.errors import ReadError

    if name == "-":
        return output.standard_input()
    try:
        return read_whole(name)
    except OSError as error:
        from weighbridge.presets import preset_like

        if preset_like(name) is not None:
            raise ReadError(Text("no such file; a model is named by an option: --model {name}", name=name), path=name) from None
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=name) from None
