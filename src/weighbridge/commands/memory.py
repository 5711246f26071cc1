"""``weigh memory SOURCE``."""

from __future__ import annotations

from weighbridge.commands import shared
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh memory llama-3-8b --dtype bfloat16 --quantization bnb-4bit
  weigh memory bert-base-uncased --training --batch 16 --seq 128 --optimizer adamw
  weigh memory bert-base-uncased --training --attention eager --explain
"""

WORDS = {
    "dtype": ("float32", "type of the weights: float32, bfloat16, float16, int8, int4"),
    "quantization": (None, "scheme that packs the matrices of layers, such as bnb-4bit, gptq-4bit, fp8-block, mxfp4"),
    "optimizer": ("adamw", "optimizer, such as adamw, sgd, momentum, adafactor, adam8bit, lion, muon"),
    "precision": ("pure", "how training mixes types: pure, amp, mixed, megatron"),
    "attention": ("sdpa", "kernel of attention: eager, sdpa, flash"),
    "checkpointing": ("none", "which activations are computed again: none, selective, full"),
    "device": ("cpu", "whose kernels run: cpu, cuda"),
}
"""By name: the default, and what it is."""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--training", action="store_true", help="gradients, optimizer states and activations too")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples (default 1)")
    parser.add_argument("--seq", type=int, default=128, metavar="N", help="tokens per example (default 128)")
    parser.add_argument("--decoder-seq", type=int, metavar="N", help="tokens of the decoder, where there are both (default: --seq)")
    for name, (default, meaning) in WORDS.items():
        parser.add_argument(f"--{name}", default=default, metavar="WORD", help=meaning + (f" (default {default})" if default else ""))
    parser.add_argument("--no-dropout", action="store_true", help="drop no elements, whatever the config says")
    parser.add_argument("--no-loss", action="store_true", help="leave the loss out")
    parser.add_argument("--explain", action="store_true", help="list every storage that is kept for backward")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Add up the bytes of the model at work."""
    from weighbridge.accounts.inputs import inputs
    from weighbridge.accounts.memory.account import settings
    from weighbridge.documents import memory

    how = settings(
        **{name: getattr(args, name) for name in WORDS}, dropout=args.training and not args.no_dropout, loss=not args.no_loss
    )  # fmt: skip
    given, model = inputs(vars(args)), shared.weighed(args)
    if args.json:
        shared.print_json(memory.as_json(model, given, how, training=args.training, explain=args.explain))
    else:
        shared.show(memory.report(model, given, how, training=args.training, explain=args.explain), args)
    return 0
