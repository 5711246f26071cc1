"""``weigh explain SOURCE``: the derivation, module by module, in Chinese or English."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh explain bert-base-chinese --lang zh
  weigh explain bert-base-uncased --module encoder.layer.attention
  weigh explain bert-base-uncased --format latex > bert.tex
"""
OPTIONS = (
    *SOURCE,
    Option("module", mark("derive only this module, such as encoder.layer.attention"), "PATH", default=""),
    Option("depth", mark("keep no more than N levels of sections"), "N", "whole"),
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Derive the number of parameters."""
    from weighbridge.documents import explain

    found = asked.model().explain(asked.lang, asked.module, asked.depth)
    return Answer(lambda: explain.as_json(found), lambda: explain.document(found))
