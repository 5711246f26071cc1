"""What commands have in common: the source and its options, and the forms an answer can take."""

from __future__ import annotations

import sys

from weighbridge.api import Model, model
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from weighbridge.documents.document import Paper, Report


def source_options(parser: ArgumentParser) -> None:
    """Add SOURCE, ``--class`` and ``--set``."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="preset, config.json, directory, checkpoint file, Hub id (org/name@revision), modelscope:org/name, address (https://, s3://, gs://,"
        " az://), or - for a config on standard input",
    )
    parser.add_argument(
        "--class", dest="model_class", metavar="CLASS", help="class to weigh (default: what the config names, else the base class)"
    )
    parser.add_argument(
        "--set", dest="overrides", metavar="key=value", action="append", default=[], help="set a config field; may be repeated"
    )
    parser.add_argument("--via", metavar="LIBRARY", help="transformers: build the class without weights, where there is no blueprint")
    parser.add_argument("--trust-remote-code", action="store_true", help="with --via, run the code that the source brings along")


def output_options(parser: ArgumentParser) -> None:
    """Add ``--json``, ``--csv``, ``--markdown`` and ``--html``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", action="store_true", help="print JSON")
    for form in ("csv", "markdown", "html"):
        group.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=f"print the tables as {form}")


def file_option(parser: ArgumentParser) -> None:
    """Add ``-o``."""
    known = "html, md, tex, txt, xlsx, svg or png"
    parser.add_argument("-o", "--output", metavar="FILE", help=f"write to a file, in the form its ending names: {known}")


def deliver(paper: Paper, args: Namespace) -> None:
    """Write a text to the file that ``-o`` names, or print it."""
    if args.output:
        from weighbridge.documents.renderers import files

        print(f"{args.output}: {files.write(paper, args.output):,} bytes")
        return
    from weighbridge.documents.renderers.papers import render

    print(render(paper), end="")


def weighed(args: Namespace) -> Model:
    """Return the model that the options of :func:`source_options` name."""
    chosen = overrides(args.overrides)
    return model(args.source, args.model_class, chosen, via=args.via, trust_remote_code=args.trust_remote_code)


def overrides(pairs: list[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value is JSON where it can be read as such, else a word.

    >>> overrides(["num_hidden_layers=6", "tie_word_embeddings=false", "hidden_act=gelu"])
    {'num_hidden_layers': 6, 'tie_word_embeddings': False, 'hidden_act': 'gelu'}
    """
    import json

    result: dict[str, Any] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(f"--set {pair}: expected key=value, such as num_hidden_layers=6")
        try:
            result[key] = json.loads(value)
        except ValueError:
            result[key] = {"True": True, "False": False, "None": None}.get(value, value)
    return result


def print_json(answer: object) -> None:
    """Print an answer as JSON: one line if it goes to a program, indented on a terminal."""
    import json

    print(json.dumps(answer, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def show(report: Report, args: Namespace) -> None:
    """Print a report in the form that was asked for: drawn on a terminal, plain in a pipe."""
    from weighbridge.documents.renderers import render

    form = getattr(args, "form", None)
    if form is None and sys.stdout.isatty():
        from shutil import get_terminal_size

        print(render(report, "terminal", width=min(get_terminal_size().columns, 110)), end="")
    else:
        print(render(report, form or "text"), end="")
