"""``weigh reconcile NUMBER SOURCE``: which way of counting gives a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh reconcile 108808704 bert-base-uncased
  weigh reconcile 1.1亿 bert-base-uncased --lang zh
  weigh reconcile 104M bert-base-uncased --json
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("number", metavar="NUMBER", help="such as 108,808,704 or 110M or 1.1亿; M may be 10^6 or 2^20")
    shared.source_options(parser)
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the text: en (default) or zh")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """Reconcile; 1 if no convention gives the number."""
    from weighbridge.documents import reconcile as reconciliation

    answer = shared.weighed(args).reconcile(args.number, args.lang)
    if args.json:
        shared.print_json(reconciliation.as_json(answer))
    else:
        shared.show(reconciliation.report(answer, args.lang), args)
    return 0 if answer.matches else 1
