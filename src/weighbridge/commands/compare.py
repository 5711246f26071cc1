"""``weigh compare A B ...``: models side by side."""

from __future__ import annotations

from weighbridge.commands.inputs import TEXT
from weighbridge.commands.options import CLASS, OUTPUT, Answer, Arguments, Option
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh compare bert-base-uncased bert-large-uncased
  weigh compare gpt2 gpt2-medium gpt2-large gpt2-xl -o gpt2.html
"""
OPTIONS = (
    Option("sources", mark("presets, config.json files, directories or checkpoint files"), "SOURCE", flag="", many=True, needed=True),
    CLASS,
    *TEXT,
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Put models side by side."""
    from weighbridge.accounts.compare import compare
    from weighbridge.documents import compare as document
    from weighbridge.verification.attribution import with_causes

    if len(arguments.sources) < 2:
        raise UsageError(Text("compare: expected two models or more"))
    found = with_causes(compare([arguments.model(source) for source in arguments.sources], arguments.batch, arguments.seq))
    return Answer(lambda: document.as_json(found), lambda: document.document(found, arguments.lang))
