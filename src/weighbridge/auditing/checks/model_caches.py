"""Key-value caches of several models in one table: a column for each length, ``4K | 8K | 32K``, or one for a token."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import CACHE_ROWS, GRID_CELLS
from weighbridge.auditing.checks.amounts import PER_TOKEN
from weighbridge.auditing.checks.cache_columns import ALONE, CachedLength
from weighbridge.auditing.checks.cache_tables import is_otherwise
from weighbridge.auditing.checks.caches import OF_CACHE, elements_if_ungrouped, elements_per_token
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.table_subjects import ModelTable
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.lengths import read_length
from weighbridge.auditing.text.rounding import scales, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_ABOVE = 4
"""Lines above a table that may say that its bytes are caches."""
_SIZES = (2, 4, 1)
"""Bytes that an element of a cache takes, the likeliest first."""
_BESIDE_LENGTH = pattern(
    r"k[/-]?v[ -]?cache|kv ?缓存|键值缓存|序列(?:长度)?|上下文(?:长度|窗口)?|长度|\b(?:tokens?|context|ctx|seq(?:_len|uence)?|length|len|at|@|of|per)\b|[时下的@=:：()（）*`]|大小|占用|显存|"
    r"\b(?:fp|bf|float|bfloat)(?:16|32)\b",
    re.IGNORECASE,
)
"""What the head of a column may say beside a length."""


_OF_A_TOKEN = pattern(r"每\s?个?\s?token\s?的?\s?KV|\bKV\b.{0,8}(?:字节|bytes)", re.IGNORECASE)


class _Cached(NamedTuple):
    """A cache of a table: its figure with what it may be rounded from, its model, and the elements of a token in that."""

    row: int
    figure: CachedLength
    subject: Subject
    elements: int

    def fits(self, size: int, *, exactly: bool = False) -> bool:
        return self.figure.fits(self.elements * size, exactly=exactly)

    def fits_ungrouped(self, size: int) -> bool:
        """Tell whether the figure is what would be kept if every head had keys and values of its own."""
        every = elements_if_ungrouped(self.subject.models[0])
        return every != self.elements and self.figure.fits(every * size)


def check(scene: Scene, bound: Sequence[ModelTable]) -> Iterator[Claim]:
    """Hold the caches of a table of models against them; one is wrong where others settle the dtype, and that its model is meant."""
    for one in bound:
        found = list(_caches(scene, one))
        told = dtype_sizes(_words_about(scene, one))
        sizes = [int(size) for size in told if size >= 1] if len(told) == 1 else list(_SIZES)
        fitting = {size: [cached for cached in found if cached.fits(size)] for size in sizes}
        size = max(fitting, key=lambda size: len(fitting[size]), default=0)
        if size and fitting[size]:
            exact = sum(cached.fits(size, exactly=True) for cached in found)
            agreed = exact >= GRID_CELLS and exact * 4 >= len(found) * 3  # then nothing is added, and a figure is a rounding or wrong
            for cached in found:
                yield from _judge(scene, cached, size, fitting[size], agreed=agreed)


def _words_about(scene: Scene, one: ModelTable) -> str:
    heads = " ".join(cell.text for row in one.table.head for cell in row.cells)
    first = one.table.first
    return f"{heads} {' '.join(line.text for line in scene.lines[max(0, first - _ABOVE) : first])}"


def _judge(scene: Scene, cached: _Cached, size: int, fitting: Sequence[_Cached], *, agreed: bool) -> Iterator[Claim]:
    token, number = cached.figure.token, cached.elements * size * cached.figure.lengths[0]
    reason = because(mark("keys and values of every layer: {bytes} bytes, {size} for each element"), bytes=number, size=size)
    facts = {"value": whole((token.value or Fraction(0)) * scales(token)[0]), "expected": whole(Fraction(number))}
    if cached in fitting and (not agreed or not cached.subject.firm or cached.fits(size, exactly=True)):
        yield claim(scene.lines, token, token, "total", "rounded", **facts, reason=reason)
        return
    beside = any(other.row == cached.row for other in fitting)
    if not cached.subject.firm or len(fitting) < CACHE_ROWS or not (beside or cached.fits_ungrouped(size)):
        return
    if not beside:
        reason = because(mark("counted as if every head had its own keys and values")) + reason
    yield claim(scene.lines, token, token, "total", "wrong", **facts, reason=reason)


def _caches(scene: Scene, one: ModelTable) -> Iterator[_Cached]:
    """Yield the figures of a table that are caches of its models."""
    lead = OF_CACHE.search(_words_about(scene, one)) is not None
    heads = {place: " ".join(row.cells[place].text for row in one.table.head if place < len(row.cells)) for place in range(_widest(one))}
    by_row = {id(row): subject for row, _, _, subject, _ in one.cells}
    by_place = {_place(row, cell): subject for row, cell, _, subject, _ in one.cells}
    turned = len({id(subject) for subject in by_row.values()}) == 1 < len({id(subject) for subject in by_place.values()})
    otherwise: dict[str, bool] = {}
    for number, row in enumerate(one.table.rows):
        for place, cell in enumerate(row.cells):
            subject = by_place.get(place) if turned else by_row.get(id(row))
            head = row.cells[0].text if turned else heads.get(place, "")
            if subject is None or not place or not ALONE.fullmatch(cell.text):
                continue
            if head not in otherwise:
                otherwise[head] = is_otherwise(scene, one.table, head)
            if otherwise[head]:
                continue
            lengths = _lengths(head, cached=lead)
            elements = elements_per_token(subject.models[0]) if lengths else 0
            figure = _figure(cell, lengths) if elements else None
            if figure is not None:
                yield _Cached(place if turned else number, figure, subject, elements)


def _place(row: Row, cell: Cell) -> int:
    """Return which cell of a row one is, or is a part of."""
    return next(place for place, whole_cell in enumerate(row.cells) if whole_cell.line == cell.line and cell.end <= whole_cell.end)


def _widest(one: ModelTable) -> int:
    return max((len(row.cells) for row in one.table.head), default=0)


def _lengths(head: str, *, cached: bool) -> tuple[int, ...]:
    """Return the tokens that a column's caches are of, by its head.

    Args:
        cached: Whether the words about the table say that it holds caches.
    """
    if not cached and OF_CACHE.search(head) is None and _OF_A_TOKEN.search(head) is None:
        return ()
    if PER_TOKEN.search(head) is not None:
        return (1,)
    found = read_length(_BESIDE_LENGTH.sub(" ", head))
    return found[0] if found is not None else ()


def _figure(cell: Cell, lengths: tuple[int, ...]) -> CachedLength | None:
    token = next((t for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit in BYTES and t.value), None)
    if token is None:
        return None
    placed = token._replace(start=cell.start + token.start, end=cell.start + token.end)
    return CachedLength(placed, lengths, tuple(value_bounds(token, scale) for scale in scales(token)))
