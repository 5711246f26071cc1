"""``weigh report SOURCE -o report.html``: everything about one model in one file."""

from __future__ import annotations

from weighbridge.commands.inputs import TEXT, inputs_from
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments

EXAMPLE = """example:
  weigh report bert-base-uncased -o report.html
  weigh report config.json --lang zh -o report.tex
  weigh report bert-base-uncased -o treemap.svg
"""
OPTIONS = (*SOURCE, *TEXT, *OUTPUT)


def answer(arguments: Arguments) -> Answer:
    """Lay everything about one model out; a workbook lists its tensors too."""
    from weighbridge.documents import count, report

    model = arguments.model()
    given, tensors = inputs_from(arguments), str(arguments.output or "").lower().endswith(".xlsx")
    return Answer(lambda: count.as_json(model), lambda: report.document(model, arguments.lang, given, tensors=tensors))
