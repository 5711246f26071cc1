"""``weigh models``: what can be weighed by name."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh models
  weigh models bert --json
  weigh models --coverage
"""
OPTIONS = (
    Option("filter", mark("only names and model types that contain WORD"), "WORD", flag="", default=""),
    Option("coverage", mark("classes that agree with the reference library, of all that it can build"), kind="switch", local=True),
    Option("names", mark("print the names of the presets alone, one a line"), kind="switch", local=True),
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """List presets and architectures."""
    from weighbridge.documents import models

    if asked.coverage:
        return Answer(models.coverage_json, lambda: models.coverage(asked.filter, asked.lang))
    text = "".join(f"{name}\n" for name in models.names(asked.filter)) if asked.names else None
    found = models.as_json(asked.filter) if text is None else {}
    holds = bool(text or found.get("presets") or found.get("architectures"))
    return Answer(lambda: found, lambda: models.document(found, asked.lang), holds=holds, text=text)
