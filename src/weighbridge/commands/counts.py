"""``weigh counts SOURCE``: all legitimate counts of one model side by side."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked

EXAMPLE = """example:
  weigh counts bert-base-uncased
  weigh counts bert-base-chinese --lang zh
"""
OPTIONS = (*SOURCE, *OUTPUT)


def answer(asked: Asked) -> Answer:
    """Count in every convention."""
    from weighbridge.documents import counts

    model = asked.model()
    return Answer(lambda: counts.as_json(model, asked.lang), lambda: counts.document(model, asked.lang))
