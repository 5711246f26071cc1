"""``weigh compare A B ...``: models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared
from weighbridge.core.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh compare bert-base-uncased bert-large-uncased
  weigh compare gpt2 gpt2-medium gpt2-large gpt2-xl -o gpt2.html
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="presets, config.json files, directories or checkpoint files")
    parser.add_argument("--class", dest="model_class", metavar="CLASS", help="class to read all of them as")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples, for the arithmetic (default 1)")
    parser.add_argument("--seq", type=int, default=128, metavar="N", help="tokens per example, for the arithmetic (default 128)")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")
    shared.file_option(parser)
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Compare the sources."""
    from weighbridge.accounts.compare import compare
    from weighbridge.api import model
    from weighbridge.documents import compare as comparison
    from weighbridge.documents import report as dossier
    from weighbridge.documents.renderers import files

    if args.output:
        files.check(args.output)
    if len(args.sources) < 2:
        raise UsageError("compare: expected two models or more")
    found = compare([model(source, args.model_class) for source in args.sources], args.batch, args.seq)
    if args.output:
        shared.deliver(dossier.compared(found, args.lang), args)
    elif args.json:
        shared.print_json(comparison.as_json(found))
    else:
        shared.show(comparison.report(found, args.lang), args)
    return 0
