"""Columns of key-value caches, a row for each length: where the others are what their model keeps, the one that is not is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import CACHE_ROWS, CACHE_SLACK
from weighbridge.auditing.checks.cache_tables import is_otherwise
from weighbridge.auditing.checks.caches import OF_CACHE, elements_per_token
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.table_places import length_of_row, model_above
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.lengths import read_length
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import scales, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tables import Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_SIZES = (2, 4, 1)
"""Bytes that an element of a cache takes."""


_LABEL = 2
"""Lines above a table that its label takes."""


class CachedLength(NamedTuple):
    """A cache of a length, with the bytes that the figure may be rounded from."""

    token: Token
    lengths: tuple[int, ...]
    spans: tuple[tuple[Fraction, Fraction], ...]

    def fits(self, each: int, *, exactly: bool = False) -> bool:
        """Tell whether the figure is that of so many bytes for each token, or, if that is asked, a rounding of them."""
        slack = Fraction(1) if exactly else 1 + CACHE_SLACK
        return any(low <= each * length * slack and each * length <= high * slack for low, high in self.spans for length in self.lengths)


def check(scene: Scene) -> Iterator[Claim]:
    """Check the columns of caches below a model's name."""
    for table in scene.tables:
        subject = model_above(scene, table)
        elements = elements_per_token(subject.models[0]) if subject is not None and subject.firm else 0
        for place, head in enumerate(column_heads(table)) if elements else ():
            if place and OF_CACHE.search(head) and not is_otherwise(scene, table, head, _LABEL):
                yield from _judge(scene, list(_rows(table, place)), elements)


def _rows(table: Table, place: int) -> Iterator[CachedLength]:
    for row in table.rows:
        cell = row.cells[place] if place < len(row.cells) else None
        length = read_length(length_of_row(table, row.line)) if cell is not None else None
        if cell is None or length is None or not ALONE.fullmatch(cell.text):
            continue
        token = next((t for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit in BYTES), None)
        if token is not None and token.value:
            placed = token._replace(start=cell.start + token.start, end=cell.start + token.end)
            yield CachedLength(placed, length[0], tuple(value_bounds(token, scale) for scale in scales(token)))


ALONE = pattern(r"[\s*`~≈]*\d[\d.,]*\s?[KMGT]i?B[\s*`]*", re.IGNORECASE)


def _judge(scene: Scene, rows: Sequence[CachedLength], elements: int) -> Iterator[Claim]:
    for size in _SIZES:
        odd = [row for row in rows if not row.fits(elements * size)]
        if len(odd) == 1 and len(rows) > CACHE_ROWS:
            right = Fraction(elements * size * odd[0].lengths[0])
            reason = because(mark("should be {right} bytes, as the other caches of its column are"), right=whole(right))
            facts = {"value": whole(odd[0].token.value), "expected": whole(right), "reason": reason}
            yield claim(scene.lines, odd[0].token, odd[0].token, "total", "wrong", **facts)
            return
        if not odd:
            return
