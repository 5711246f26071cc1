"""``weigh count SOURCE``, which is also the bare ``weigh SOURCE``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh bert-base-chinese
  weigh count config.json --class BertForMaskedLM --json
"""
OPTIONS = (
    *SOURCE,
    Option("depth", mark("show no more than N levels of the tree"), "N", "whole", local=True),
    Option("total", mark("inside repeated parts, count all copies in place of one"), kind="switch", local=True),
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Count, and lay out the tree."""
    from weighbridge.documents import count

    model = asked.model()
    return Answer(lambda: count.as_json(model), lambda: count.document(model, depth=asked.depth, total=asked.total, lang=asked.lang))
