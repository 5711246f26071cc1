"""``weigh counts SOURCE``: all legitimate counts of one model side by side."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments

EXAMPLE = """example:
  weigh counts bert-base-uncased
  weigh counts bert-base-chinese --lang zh
"""
OPTIONS = (*SOURCE, *OUTPUT)


def answer(arguments: Arguments) -> Answer:
    """Count in every convention."""
    from weighbridge.documents import counts

    model = arguments.model()
    return Answer(lambda: counts.as_json(model, arguments.lang), lambda: counts.document(model, arguments.lang))
