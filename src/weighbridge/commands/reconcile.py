"""``weigh reconcile NUMBER SOURCE``: which way of counting gives a number."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh reconcile 108808704 bert-base-uncased
  weigh reconcile 1.1亿 bert-base-uncased --lang zh
  weigh reconcile 104M bert-base-uncased --json
"""
OPTIONS = (
    Option("number", mark("such as 108,808,704 or 110M or 1.1亿; M may be 10^6 or 2^20"), "NUMBER", flag="", needed=True),
    *SOURCE,
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Find the conventions that give a number; it holds if one does."""
    from weighbridge.documents import reconcile

    found = asked.model().reconcile(asked.number, asked.lang)
    return Answer(lambda: reconcile.as_json(found), lambda: reconcile.document(found, asked.lang), holds=bool(found.matches))
