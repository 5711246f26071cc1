"""``weigh count SOURCE``, which is also the bare ``weigh SOURCE``."""

from __future__ import annotations

from weighbridge.commands import shared
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh bert-base-chinese
  weigh count config.json --class BertForMaskedLM --json
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--depth", type=int, metavar="N", help="show no more than N levels of the tree")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Count, and show the tree."""
    from weighbridge.documents import count as counting

    model = shared.weighed(args)
    if args.json:
        shared.print_json(counting.as_json(model))
    else:
        shared.show(counting.report(model, depth=args.depth), args)
    return 0
