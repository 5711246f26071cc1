"""``weigh count SOURCE``, which is also the bare ``weigh SOURCE``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.documents.document import Document

EXAMPLE = """example:
  weigh bert-base-chinese
  weigh count config.json --class BertForMaskedLM --json
"""
OPTIONS = (
    *SOURCE,
    Option("depth", mark("show no more than N levels of the tree"), "N", "whole", local=True),
    Option("total", mark("inside repeated parts, count all copies in place of one"), kind="switch", local=True),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Count, and lay out the tree."""
    model = arguments.model()

    def data() -> object:
        from weighbridge.documents.count_json import as_json

        return as_json(model)

    def document() -> Document:
        from weighbridge.documents.count import document

        return document(model, depth=arguments.depth, total=arguments.total, lang=arguments.lang)

    return Answer(data, document)
