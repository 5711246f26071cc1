"""``weigh flops SOURCE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh flops bert-base-uncased --batch 1 --seq 128
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples (default 1)")
    parser.add_argument("--seq", type=int, default=128, metavar="N", help="tokens per example (default 128)")
    parser.add_argument("--decoder-seq", type=int, metavar="N", help="tokens of the decoder, where there are both (default: --seq)")
    parser.add_argument("--encoder-seq", type=int, metavar="N", help="length of the states that a decoder's cross-attention looks at")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Count the arithmetic of one pass."""
    from weighbridge.tables import arithmetic

    model = shared.weighed(args)
    given = arithmetic.Pass(args.batch, args.seq, args.decoder_seq, args.encoder_seq)
    if args.json:
        shared.print_json(arithmetic.as_json(model, given))
    else:
        shared.show(arithmetic.report(model, given), args)
    return 0
