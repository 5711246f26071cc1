"""``weigh formula SOURCE``: the closed formula, in total and per module, with its symbols explained."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh formula bert-base-uncased
  weigh formula bert-base-uncased --flops
  weigh formula bert-base-uncased --format latex
"""
NOTATIONS = ("text", "json", "csv", "markdown", "html", "latex", "mathml", "sympy")
OPTIONS = (
    *SOURCE,
    Option("flops", mark("of the matrix arithmetic of a forward pass, not of the parameters"), kind="switch"),
    Option(
        "form",
        mark("text (default): all of it; latex, mathml, sympy: the formula alone"),
        "FORM",
        flag="--format",
        choices=NOTATIONS,
        local=True,
    ),
    *(option for option in OUTPUT if option.switch != "--format"),
)


def answer(asked: Asked) -> Answer:
    """Return the closed formula."""
    from weighbridge.documents import formula

    model = asked.model()
    alone = asked.form in ("latex", "mathml", "sympy") and not asked.output
    return Answer(
        lambda: formula.as_json(model, of_flops=asked.flops, lang=asked.lang),
        lambda: formula.document(model, of_flops=asked.flops, lang=asked.lang),
        text=formula.bare(model, asked.form, of_flops=asked.flops) + "\n" if alone else None,
    )
