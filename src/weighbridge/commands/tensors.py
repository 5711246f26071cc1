"""``weigh tensors SOURCE``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh tensors bert-base-uncased --class BertForPreTraining
  weigh tensors bert-base-uncased --names tensorflow --csv
"""
OPTIONS = (
    *SOURCE,
    Option("names", mark("reference (default), or another set of names: tensorflow, checkpoint"), "SET", default="reference"),
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """List every tensor."""
    from weighbridge.documents import tensors

    model = asked.model()
    return Answer(lambda: tensors.as_json(model, asked.names), lambda: tensors.document(model, asked.names, asked.lang))
