"""``weigh models``: what can be weighed by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh models
  weigh models bert --json
  weigh models --coverage
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("filter", nargs="?", default="", metavar="WORD", help="only names and model types that contain WORD")
    parser.add_argument("--coverage", action="store_true", help="classes that agree with the reference library, of all that it can build")
    parser.add_argument("--names", action="store_true", help="print the names of the presets alone, one a line")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """List presets and architectures."""
    from weighbridge.documents import models as known
    from weighbridge.presets import presets

    if args.names:
        print("\n".join(preset.name for preset in presets() if args.filter in preset.name))
    elif args.json:
        shared.print_json(known.coverage_json() if args.coverage else known.as_json(args.filter))
    else:
        shared.show(known.coverage_report(args.filter) if args.coverage else known.report(args.filter), args)
    return 0
