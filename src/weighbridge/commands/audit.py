"""``weigh audit FILE``: every numeric claim of an article or a model card, checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

EXAMPLE = """example:
  weigh audit notes.md
  weigh audit README.md --model . --lang zh
  weigh audit article.html --html > audited.html
  weigh audit docs/ --format github
"""
ENDINGS = (".md", ".markdown", ".txt", ".rst", ".org", ".tex", ".html", ".htm", ".ipynb")
"""What is read of a folder."""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="article, model card or notes: Markdown, HTML, text, .ipynb; a folder of them; - for standard input",
    )
    parser.add_argument("--model", metavar="SOURCE", help="the model it is about (default: what its names and sizes tell)")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the verdicts: en (default) or zh")
    parser.add_argument("--all", dest="every", action="store_true", help="show exact claims too, and those that were not judged")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", dest="form", action="store_const", const="json", help="print JSON")
    group.add_argument("--markdown", dest="form", action="store_const", const="markdown", help="print a table in Markdown")
    group.add_argument("--html", dest="form", action="store_const", const="html", help="print the text marked up, as a page")
    group.add_argument("--format", dest="form", choices=("github", "sarif"), help="print annotations for a pull request: github or sarif")


def run(args: Namespace) -> int:
    """Audit each file; 1 if any claim is wrong."""
    from weighbridge.auditing import audit
    from weighbridge.core.messages import translator
    from weighbridge.documents import audit as auditing
    from weighbridge.load import load

    say = translator(args.lang)
    against = load(args.model) if args.model else None
    names = [name for given in args.files for name in _files(given)]
    audits = [(name, audit(_read(name), name=name, model=against)) for name in names]
    if args.form == "json":
        answers = [{"file": name, **auditing.as_json(found, say)} for name, found in audits]
        shared.print_json(answers[0] if len(answers) == 1 else answers)
    elif args.form in ("github", "sarif"):
        from weighbridge.documents import audit_annotations

        print((audit_annotations.as_github if args.form == "github" else audit_annotations.as_sarif)(audits, say), end="")
    else:
        for name, found in audits:
            if args.form == "html":
                print(auditing.as_html(found, say, name), end="")
                continue
            if len(audits) > 1:
                print(f"{name}:" if args.form is None else f"## {name}\n")
            write = auditing.as_markdown if args.form == "markdown" else auditing.as_text
            print(write(found, say, every=args.every), end="")
    return int(any(found.wrong for _, found in audits))


def _files(name: str) -> Iterator[str]:
    """Yield a file's name, or those of the texts in a folder, in order."""
    import os

    if name == "-" or not os.path.isdir(name):
        yield name
        return
    for folder, inner, files in os.walk(name):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        yield from (os.path.join(folder, file) for file in sorted(files) if file.lower().endswith(ENDINGS))


def _read(name: str) -> bytes:
    from weighbridge.core.errors import ReadError

    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=name) from None
