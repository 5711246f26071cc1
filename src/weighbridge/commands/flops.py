"""``weigh flops SOURCE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh flops bert-base-uncased --batch 1 --seq 128
  weigh flops bert-base-uncased --explain --lang zh
  weigh flops llava-1.5-7b --seq 640 --images 1
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples (default 1)")
    parser.add_argument("--seq", type=int, default=128, metavar="N", help="tokens per example (default 128)")
    parser.add_argument("--decoder-seq", type=int, metavar="N", help="tokens of the decoder, where there are both (default: --seq)")
    parser.add_argument("--encoder-seq", type=int, metavar="N", help="length of the states that a decoder's cross-attention looks at")
    parser.add_argument("--images", type=int, metavar="N", help="images per example (each crop counts), of a language model that sees")
    parser.add_argument(
        "--patches", metavar="RxC", help="patches of each image, where a model reads any size: rows x columns, such as 16x24"
    )
    parser.add_argument("--audios", type=int, metavar="N", help="clips of sound per example, of a language model that hears")
    parser.add_argument("--question", type=int, metavar="N", help="tokens of each example that see the whole text (Longformer's questions)")
    parser.add_argument("--explain", action="store_true", help="derive it: formula, substitution, number, module by module")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the derivation: en (default) or zh")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Count the arithmetic of one pass."""
    from weighbridge.accounts.inputs import inputs
    from weighbridge.documents import flops as arithmetic

    model = shared.weighed(args)
    given = inputs(vars(args))
    if args.explain:
        from weighbridge.documents import flops_derivation as effort
        from weighbridge.documents.renderers.papers import render

        print(render(effort.paper(model, given, args.lang), {None: "text"}.get(args.form, args.form)), end="")
    elif args.json:
        shared.print_json(arithmetic.as_json(model, given))
    else:
        shared.show(arithmetic.report(model, given), args)
    return 0
