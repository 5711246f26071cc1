"""The derivation of ``weigh cache --explain``: what each kind of layer keeps as formula, substitution and number, from the account itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weighbridge.accounts.cache import cache_of
from weighbridge.documents.cache import REASONS
from weighbridge.documents.cost_lines import Group, equation, letters_line, sum_line
from weighbridge.documents.document import Block, Item, Paragraph
from weighbridge.explain.traced import lettered

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.core.messages import Say
    from weighbridge.value import ModelValue


def derivation(model: ModelValue, given: Inputs, dtype: str, engine: str, say: Say) -> Iterator[Block]:
    """Yield for each kind of layer why it keeps as much, the formula, the substitution and the number; and their sum."""
    book = lettered(model, given)
    found = cache_of(book.model, book.given, dtype, engine)
    yield letters_line(book)
    for kept in found.layers:
        why = say(REASONS[kept.kind]).format(window=kept.window, less=(kept.window or 1) - 1)
        yield Item(1, "", "", (kept.module,))
        yield Paragraph(2, why)
        yield equation(Group(1, kept.bytes, ""), book, 2)
    yield from sum_line([kept.bytes for kept in found.layers], 1, say("{label}: ").format(label=say("sum")))
