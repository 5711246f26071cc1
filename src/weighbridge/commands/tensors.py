"""``weigh tensors SOURCE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh tensors bert-base-uncased --class BertForPreTraining
  weigh tensors bert-base-uncased --names tensorflow --csv
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument(
        "--names", default="reference", metavar="SET", help="reference (default), or another set of names: tensorflow, checkpoint"
    )
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """List every tensor."""
    from weighbridge.documents import tensors as listing

    model = shared.weighed(args)
    if args.json:
        shared.print_json(listing.as_json(model, args.names))
    else:
        shared.show(listing.report(model, args.names), args)
    return 0
