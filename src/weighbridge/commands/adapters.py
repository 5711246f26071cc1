"""``weigh adapters BASE ADAPTER``."""

from __future__ import annotations

from weighbridge.commands import shared
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh adapters bert-base-uncased lora:r=8,target_modules=query+value
  weigh adapters meta-llama/Llama-3.2-3B path/to/adapter_config.json --json
  weigh adapters llama-3-8b lora:r=16,target_modules=all-linear --dtype bfloat16
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument(
        "adapter",
        metavar="ADAPTER",
        help="adapter_config.json, a directory with one, or a method and its fields: lora:r=8,target_modules=q_proj+v_proj",
    )
    parser.add_argument("--dtype", default="float32", metavar="TYPE", help="element type that the base is loaded in (default float32)")
    parser.add_argument("--no-autocast", action="store_true", help="keep the adapter in the base's 16 bits, in place of float32")
    parser.add_argument("--resized", action="store_true", help="the base's vocabulary was resized, so its embeddings are saved too")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Count the model with the adapter."""
    from weighbridge.accounts.adapters.source import adapters_of
    from weighbridge.documents import adapters

    model = shared.weighed(args)
    found = adapters_of(model, args.adapter, dtype=args.dtype, autocast=not args.no_autocast, resized=args.resized)
    if args.json:
        shared.print_json(adapters.as_json(model, found))
    else:
        shared.show(adapters.report(model, found), args)
    return 0
