"""The derivation of ``weigh cache --explain``: what each kind of layer keeps as formula, substitution and number, from the account itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weighbridge.accounts.cache import cache_of
from weighbridge.core.tree import walk
from weighbridge.documents.cache import LATENT, REASONS
from weighbridge.documents.cost_lines import Group, equation, letter_table, sum_line
from weighbridge.documents.document import Block, Item, Paragraph
from weighbridge.explain.traced_ints import with_letters

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.core.messages import Say
    from weighbridge.value import ModelValue


def derivation(model: ModelValue, given: Inputs, dtype: str, engine: str, say: Say) -> Iterator[Block]:
    """Yield for each kind of layer why it keeps as much, the formula, the substitution and the number; and their sum."""
    book = with_letters(model, given)
    found = cache_of(book.model, book.given, dtype, engine)
    kinds = {path: part.kind for path, part in walk(book.model.tree)}
    blocks: list[Block] = []
    for kept in found.layers:
        latent = kept.kind == "attention" and kinds.get(kept.module) == "latent_attention"
        why = say(LATENT if latent else REASONS[kept.kind]).format(window=kept.window, less=(kept.window or 1) - 1)
        blocks += [Item(1, "", "", (kept.module,)), Paragraph(2, why), equation(Group(1, kept.bytes, ""), book, 2)]
    yield letter_table(blocks, book, say)
    yield from blocks
    yield from sum_line([kept.bytes for kept in found.layers], 1, say("{label}: ").format(label=say("sum")))
