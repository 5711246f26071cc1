"""Grids of models: a size at the head of each column, another at the head of each row, and in the cells names or counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.cell_models import models_of_cell
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.table_counts import count_in
from weighbridge.auditing.checks.table_families import families_of
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import SURE_ROWS
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def grid_claims(scene: Scene, table: Table) -> Iterator[Claim]:
    """Check the names in a grid of sizes against the sizes of their row and column, and counts against a BERT of those sizes."""
    families = families_of(scene, table)
    top = [_GRID_SIZE.search(cell.text) for cell in (table.head or table.rows)[0].cells]
    counts: list[tuple[Token, ModelValue]] = []
    for row in table.rows:
        side = _GRID_SIZE.search(row.cells[0].text)
        for cell, head in zip(row.cells[1:], top[1:], strict=False):
            if side is None or head is None:
                continue
            told = {LETTERS[match[1]]: int(match[2]) for match in (side, head) if match[1] in LETTERS}
            subject = models_of_cell(scene, cell.text, families)
            if subject is not None:
                yield from _named_claim(scene, cell, told, words_of(subject.models[0]))
            elif families == ["bert"] and (token := count_in(scene, cell, "")) is not None and token.unit:
                model = _bert(told.get("hidden", 0), told.get("layers", 0))
                counts += [(token, model)] if model is not None else []
    yield from _count_claims(scene, counts)


def _named_claim(scene: Scene, cell: Cell, told: Mapping[str, int], own: Mapping[str, int]) -> Iterator[Claim]:
    if told and all(own.get(word) == value for word, value in told.items()):
        token, most = Token("num", cell.text, cell.line, cell.start, cell.end), max(told.values())
        yield claim(scene.lines, token, token, "configuration", "exact", value=most, expected=most, difference=0)


def _count_claims(scene: Scene, counts: Sequence[tuple[Token, ModelValue]]) -> Iterator[Claim]:
    """Judge the counts of a grid of which most are those of a BERT with the sizes of their row and column."""
    settled = [(token, model, settle(token, [model], whole=True)) for token, model in counts]
    right = sum(found is not None for *_, found in settled)
    alone = right + 1 == len(settled) and right >= _SURE_CELLS
    for token, model, found in settled if right >= SURE_ROWS and right * 2 > len(settled) else ():
        if found is not None:
            yield total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif (own := own_count(model)) is not None and (alone or abs((likeliest_value(token) or Exact(0)) - own) * _PART_OFF > own):
            reason = because(mark("{name} has {right}"), name=Sentence(str(model.class_name)), right=own)
            yield total_claim(scene, token, "wrong", Exact(own), reason)


_PART_OFF = 25
"""A count is wrong when it is off by more than one part of so many: heads, and tables of another vocabulary, make less."""
_SURE_CELLS = 8
"""Cells that are right to the digits they show before the only one that is not is wrong, however near."""


@lru_cache(maxsize=64)
def _bert(hidden: int, layers: int) -> ModelValue | None:
    """Return a BERT of two sizes, with heads of 64 and four times as wide within, as all of its published sizes are."""
    if hidden % _HEAD or not 0 < hidden <= _WIDEST or not 0 < layers <= _DEEPEST:
        return None
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": hidden // _HEAD, "intermediate_size": 4 * hidden}
    return load({"model_type": "bert", **sizes})


_HEAD, _WIDEST, _DEEPEST = 64, 8192, 256
_GRID_SIZE = pattern(r"\b([A-Z])\s*=\s*(\d+)")
