"""``weigh formula SOURCE``: the closed formula, in total and per module, with its symbols explained."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh formula bert-base-uncased
  weigh formula bert-base-uncased --flops
  weigh formula bert-base-uncased --format latex
"""
NOTATIONS = ("text", "json", "csv", "markdown", "html", "latex", "mathml", "sympy")
OPTIONS = (
    *SOURCE,
    Option("flops", mark("derive the forward pass's matrix arithmetic, not the parameters"), kind="switch"),
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


def answer(arguments: Arguments) -> Answer:
    """Return the closed formula."""
    from weighbridge.documents import formula

    model = arguments.model()
    alone = arguments.form in ("latex", "mathml", "sympy") and not arguments.output
    return Answer(
        lambda: formula.as_json(model, of_flops=arguments.flops, lang=arguments.lang),
        lambda: formula.document(model, of_flops=arguments.flops, lang=arguments.lang),
        text=formula.formula_text(model, arguments.form, of_flops=arguments.flops) + "\n" if alone else None,
    )
