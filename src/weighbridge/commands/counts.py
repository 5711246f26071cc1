"""``weigh counts SOURCE``: all legitimate counts of one model side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh counts bert-base-uncased
  weigh counts bert-base-chinese --lang zh
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Count every way, and show the table."""
    from weighbridge.documents import counts as conventions

    model = shared.weighed(args)
    if args.json:
        shared.print_json(conventions.as_json(model, args.lang))
    else:
        shared.show(conventions.report(model, args.lang), args)
    return 0
