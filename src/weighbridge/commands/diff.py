"""``weigh diff A B``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from weighbridge.value import ModelValue

EXAMPLE = """example:
  weigh diff bert-base-uncased bert-base-chinese
  weigh diff ./before ./after --weights --json
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("a", metavar="A", help="preset, config.json, directory or checkpoint file")
    parser.add_argument("b", metavar="B", help="what to compare it with, of any kind")
    parser.add_argument("--class", dest="model_class", metavar="CLASS", help="class to read configs as")
    parser.add_argument("--weights", action="store_true", help="of a directory, compare the weights and not the config")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if they differ")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Compare two sources."""
    from weighbridge.documents import diff as difference
    from weighbridge.verification.diff import diff

    found = diff(_read(args.a, args), _read(args.b, args))
    if args.json:
        shared.print_json(difference.as_json(found))
    else:
        shared.show(difference.report(found), args)
    return 1 if args.exit_code and not found.same else 0


def _read(source: str, args: Namespace) -> ModelValue:
    from weighbridge.api import model
    from weighbridge.load import checkpoint_of

    path = Path(source)
    if args.weights and path.is_dir():
        return checkpoint_of(path)
    is_config = not path.is_file() or path.suffix == ".json"
    return model(source, args.model_class if is_config else None)
