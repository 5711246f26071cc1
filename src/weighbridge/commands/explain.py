"""``weigh explain SOURCE``: the derivation, module by module, in Chinese or English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh explain bert-base-chinese --lang zh
  weigh explain bert-base-uncased --module encoder.layer.attention
  weigh explain bert-base-uncased --format latex > bert.tex
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")
    parser.add_argument("--module", default="", metavar="PATH", help="derive only this module, such as encoder.layer.attention")
    parser.add_argument("--depth", type=int, metavar="N", help="keep no more than N levels of sections")
    parser.add_argument("--format", default="text", choices=("text", "markdown", "latex", "html", "json"), help="form of the answer")
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="print JSON (the same as --format json)")


def run(args: Namespace) -> int:
    """Derive, and write the derivation out."""
    from weighbridge.documents import explain as derivation
    from weighbridge.documents.renderers.papers import render

    found = shared.weighed(args).explain(args.lang, args.module, args.depth)
    if args.format == "json":
        shared.print_json(derivation.as_json(found))
    else:
        print(render(derivation.paper(found), args.format), end="")
    return 0
