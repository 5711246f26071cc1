"""``weigh report SOURCE -o report.html``: everything about one model in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh report bert-base-uncased -o report.html
  weigh report config.json --lang zh -o report.tex
  weigh report bert-base-uncased -o treemap.svg
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    shared.source_options(parser)
    shared.file_option(parser)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples, for the arithmetic (default 1)")
    parser.add_argument("--seq", type=int, default=128, metavar="N", help="tokens per example, for the arithmetic (default 128)")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")


def run(args: Namespace) -> int:
    """Write the report to its file, or as text."""
    from weighbridge.accounts.inputs import inputs
    from weighbridge.documents import report as dossier
    from weighbridge.documents.renderers import files

    form = files.check(args.output) if args.output else "text"
    model = shared.weighed(args)
    shared.deliver(dossier.paper(model, args.lang, inputs(vars(args)), tensors=form == "excel"), args)
    return 0
