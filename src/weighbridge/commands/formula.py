"""``weigh formula SOURCE``: the closed formula, in total and per module, with its symbols explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh formula bert-base-uncased
  weigh formula bert-base-uncased --flops
  weigh formula bert-base-uncased --format latex
"""
FORMATS = ("text", "latex", "mathml", "sympy", "json")


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--flops", action="store_true", help="of the matrix arithmetic of a forward pass, not of the parameters")
    parser.add_argument("--format", default="text", choices=FORMATS, help="text (default): all of it; else the formula alone, or JSON")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Show the closed formula."""
    from weighbridge.documents import formula as formulae

    model = shared.weighed(args)
    if args.json or args.format == "json":
        shared.print_json(formulae.as_json(model, of_flops=args.flops, lang=args.lang))
    elif args.format == "text":
        shared.show(formulae.report(model, of_flops=args.flops, lang=args.lang), args)
    else:
        print(formulae.bare(model, args.format, of_flops=args.flops))
    return 0
