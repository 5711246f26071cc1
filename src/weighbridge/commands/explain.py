"""``weigh explain SOURCE``: the derivation, module by module, in Chinese or English."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh explain bert-base-chinese --lang zh
  weigh explain deepseek-v3 --depth 1
  weigh explain bert-base-uncased --module encoder.layer.attention
  weigh explain bert-base-uncased --format latex > bert.tex
"""
LEVELS = 4
"""How deep a derivation goes unless more is asked for."""

OPTIONS = (
    *SOURCE,
    Option("module", mark("derive only this module, such as encoder.layer.attention"), "PATH", default=""),
    Option(
        "depth",
        mark("show N levels of sections and fold nothing (default: 4 levels; what is like a section before it is folded)"),
        "N",
        "whole",
    ),
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Derive the number of parameters."""
    from weighbridge.documents import explain
    from weighbridge.explain.derive import fold_below

    whole = asked.model().explain(asked.lang, asked.module, asked.depth)
    return Answer(
        lambda: explain.as_json(whole),
        lambda: explain.document(whole) if asked.depth else explain.document(fold_below(whole, LEVELS), fold=True),
    )
