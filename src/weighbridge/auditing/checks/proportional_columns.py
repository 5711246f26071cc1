"""Columns of bytes that grow as what their rows are: caches with the length, weights and what training keeps with the count; the one row that does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from weighbridge.auditing.byte_thresholds import PROPORTIONAL_ROWS
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES, UNITS
from weighbridge.auditing.text.tables import Cell
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_LENGTHS = pattern(r"长度|上下文|context|\bseq|tokens?\b|length", re.IGNORECASE)
_CACHES = pattern(r"\bkv|cache|缓存", re.IGNORECASE)
_COUNTS = pattern(r"参数|param|规模|模型|model|size", re.IGNORECASE)
_OF_COUNTS = pattern(
    r"权重|weights?|fp ?32|fp ?16|bf16|int ?8|int ?4|model states|模型状态|Ψ|\\psi|字节\s?/\s?参数|bytes?\s?/\s?param|梯度|gradient|优化器|optimizer",
    re.IGNORECASE,
)
_PACKED = pattern(r"int ?[234]\b|[234][- ]?bit|\bq\d|gguf|awq|gptq|nf4|fp4|量化", re.IGNORECASE)
_COUNT = pattern(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>B|亿)(?![a-z0-9])")
_LENGTH = pattern(r"[\s*`~≈约]*(?P<number>\d{1,3}(?:,\d{3})+|\d+)\s?(?P<unit>[kKM])?(?:\s?个?\s?tokens?)?[\s*`]*")


class _Row(NamedTuple):
    """What a row is, and the figure of one of its columns."""

    size: Fraction
    token: Token
    value: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Confirm the rows of a column that agree, and report the one that does not where enough others do."""
    for table in scene.tables:
        if len(table.rows) < _LEAST:
            continue
        heads = column_heads(table)
        for key, head in enumerate(heads[:3]):
            read, fits = (
                (_read_length, _CACHES) if _LENGTHS.search(head) else (_read_count, _OF_COUNTS) if _COUNTS.search(head) else (None, None)
            )
            if read is None or fits is None:
                continue
            for place, other in enumerate(heads):
                if place != key and fits.search(other):
                    yield from _column(
                        scene,
                        [row for row in (_row(one.cells, key, place, read) for one in table.rows) if row is not None],
                        len(table.rows),
                        packed=_PACKED.search(other) is not None,
                    )


_LEAST = 3


def _read_length(text: str) -> Fraction | None:
    found = _LENGTH.fullmatch(text)
    if found is None:
        return None
    return Fraction(found["number"].replace(",", "")) * {"k": 1024, "m": 1024**2}.get((found["unit"] or "").lower(), 1)


def _read_count(text: str) -> Fraction | None:
    found = list(_COUNT.finditer(text))
    return Fraction(found[0]["number"]) * (10**9 if found[0]["unit"] == "B" else 10**8) if len(found) == 1 else None


def _row(cells: Sequence[Cell], key: int, place: int, read: object) -> _Row | None:
    if max(key, place) >= len(cells) or not callable(read):
        return None
    size = read(cells[key].text)
    cell = cells[place]
    figures = [token for token in tokens(cell.text, cell.line) if token.kind == "num"]
    if not size or len(figures) != 1 or figures[0].unit not in BYTES or not figures[0].value:
        return None
    token = figures[0]._replace(start=cell.start + figures[0].start, end=cell.start + figures[0].end)
    value = likeliest_value(token)
    return _Row(size, token, value) if value else None


def _column(scene: Scene, rows: Sequence[_Row], all_rows: int, *, packed: bool) -> Iterator[Claim]:
    """Judge a column; one of packed weights makes none wrong: tables of words are packed less, and are more of some models."""
    if len(rows) < max(_LEAST, all_rows):
        return
    for rate in dict.fromkeys(row.value / row.size for row in rows):
        odd = list(islice((row for row in rows if not _agrees(row, rate)), 2))
        if len(odd) > 1:
            continue  # as of nearly all columns, which a few rows tell
        alike = sum(100 * abs(row.value - rate * row.size) <= _NEAR * rate * row.size for row in rows)
        if not odd or alike >= PROPORTIONAL_ROWS:
            for row in rows:
                right = rate * row.size
                facts: dict[str, object] = {"value": whole(row.value), "expected": whole(right), "difference": whole(row.value - right)}
                if row not in odd:
                    if _rounds_to(row, rate, rows):
                        yield claim(scene.lines, row.token, row.token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
                elif not packed and not 100 * abs(row.value - right) <= _FAR * right:
                    direction = (
                        mark("should be {right}, as the other rows say ({number} too high)")
                        if row.value > right
                        else mark("should be {right}, as the other rows say ({number} too low)")
                    )
                    reason = because(
                        direction, right=write_bytes(row.token, right, 1024), number=write_bytes(row.token, abs(row.value - right), 1024)
                    )
                    yield claim(scene.lines, row.token, row.token, "arithmetic", "wrong", **facts, reason=reason)
            return


_NEAR = 3
"""Percent within which rows are alike, whatever their digits."""
_FAR = 8
"""Percent that an odd row must be off."""


def _rounds_to(row: _Row, rate: Fraction, rows: Sequence[_Row]) -> bool:
    """Tell whether a row is, to the digits that it shows, what the row that gives the rate makes it: that one is rounded too."""
    base = next(one for one in rows if one.value / one.size == rate)
    (low, high), (least, most) = (value_bounds(one.token, Fraction(UNITS[one.token.unit][0])) for one in (row, base))
    return low * base.size <= most * row.size and least * row.size <= high * base.size


def _agrees(row: _Row, rate: Fraction) -> bool:
    right = rate * row.size
    near = 100 * abs(row.value - right) <= _NEAR * right
    return near or any(low <= right * scale <= high for scale in (Fraction(1), Fraction(1000, 1024), Fraction(1024, 1000)) for low, high in (value_bounds(row.token, Fraction(unit)) for unit in UNITS[row.token.unit]))  # fmt: skip
