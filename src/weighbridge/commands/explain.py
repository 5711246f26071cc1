"""``weigh explain SOURCE``: the derivation, module by module, in Chinese or English."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh explain bert-base-chinese --lang zh
  weigh explain deepseek-v3 --depth 1
  weigh explain bert-base-uncased --module encoder.layer.attention
  weigh explain bert-base-uncased --format latex > bert.tex
"""
LINES = 250
"""How long a derivation may be, about, before its inner sections are folded, unless more is asked for."""

OPTIONS = (
    *SOURCE,
    Option("module", mark("derive only this module, such as encoder.layer.attention"), "PATH", default=""),
    Option(
        "depth",
        mark("show N levels of sections (default: as many as can be read; a section that is like one before it is not repeated)"),
        "N",
        "whole",
    ),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Derive the number of parameters."""
    from weighbridge.documents import explain

    whole = arguments.model().explain(arguments.lang, arguments.module, arguments.depth)
    return Answer(
        lambda: explain.as_json(whole), lambda: explain.document(whole) if arguments.depth else explain.fold_to_length(whole, LINES)
    )
