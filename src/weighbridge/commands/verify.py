"""``weigh verify SOURCE [CONFIG]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh verify ./bert-base-uncased
  weigh verify model.safetensors config.json --json
  weigh verify model.gguf
  weigh verify pytorch_model.bin bert-base-uncased --class BertForPreTraining

exit codes: 0 every element is accounted for, 1 it is not (or a claim of the file is false), 2 bad input
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument(
        "config",
        nargs="?",
        metavar="CONFIG",
        help="what the file should be: a config or a preset (default: a GGUF file's own metadata, else the config beside it)",
    )
    parser.add_argument(
        "--thorough",
        action="store_true",
        help="read tied tensors that the file holds twice to the end (default: samples of a few kilobytes)",
    )
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Hold the file against the config."""
    from weighbridge.documents import verify as verification
    from weighbridge.verification.verify import verified

    found = verified(args.source, args.config, args.model_class, shared.overrides(args.overrides), thorough=args.thorough)
    if args.json:
        shared.print_json(verification.as_json(found))
    else:
        shared.show(verification.report(found), args)
    return 0 if found.holds else 1
