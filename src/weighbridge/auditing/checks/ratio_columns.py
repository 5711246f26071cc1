"""A column of shares that are one column of the table divided by another: ``| DeepSeek-V3 | 671B | 37B | 5.5% |``; one row that is not so is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_SHARE = pattern(r"[\s*_`~≈约]*(?P<share>\d{1,2}(?:\.\d{1,3})?)\s?%[\s*_`]*")
_LEAST = 2
"""Rows that must be so: one may be by chance."""
_FAR = Fraction(3, 2)
"""Steps of the last digit that is shown by which a share must be off."""
_WIDEST = 8
"""Columns of a table that are tried against each other."""


class _Read(NamedTuple):
    """A share as written, with one step of its last digit, and between which two it lies by the counts of its row."""

    cell: Cell
    token: Token
    step: Fraction
    low: Fraction
    high: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Check each column of shares against the two columns that most of its rows are the ratio of."""
    for table in scene.tables:
        width = min(max((len(row.cells) for row in table.rows), default=0), _WIDEST)
        for place in range(1, width):
            if sum(place < len(row.cells) and _SHARE.fullmatch(row.cells[place].text) is not None for row in table.rows) > _LEAST - 1:
                yield from _column(scene, table, place, width)


def _column(scene: Scene, table: Table, place: int, width: int) -> Iterator[Claim]:
    best: Sequence[_Read] = ()
    for part, whole_place in permutations([other for other in range(1, width) if other != place], 2):
        read = [one for row in table.rows if (one := _read(row, place, part, whole_place)) is not None]
        right = sum(map(_fits, read))
        if right >= _LEAST and len(read) - right <= 1 and right > sum(map(_fits, best)):
            best = read
    for one in best:
        if _fits(one):
            yield _claim(scene, one, "rounded", because(mark("rounded")))
        elif one.token.value is not None and not one.low - _FAR * one.step <= one.token.value <= one.high + _FAR * one.step:
            middle = (one.low + one.high) / 2
            yield _claim(scene, one, "wrong", because(mark("it is {right}"), right=f"{float(middle):.1f} %"))


def _fits(one: _Read) -> bool:
    value = one.token.value
    return value is not None and one.low - one.step <= value <= one.high + one.step


def _read(row: Row, place: int, part: int, of: int) -> _Read | None:
    """Read a row's share and the bounds that its two counts set."""
    if max(place, part, of) >= len(row.cells):
        return None
    cell = row.cells[place]
    found = _SHARE.fullmatch(cell.text)
    first, second = _bounds(row.cells[part]), _bounds(row.cells[of])
    if found is None or first is None or second is None or not 0 < first[0] < second[0]:
        return None
    text = found["share"]
    token = Token("num", text, cell.line, cell.start + found.start("share"), cell.start + cell.text.index("%") + 1, Exact(text))
    return _Read(cell, token, Fraction(1, 10 ** len(text.partition(".")[2])), 100 * first[0] / second[1], 100 * first[1] / second[0])


def _bounds(cell: Cell) -> tuple[Fraction, Fraction] | None:
    """Return between which two the one count of a cell lies, by the digits that it shows."""
    found = [one for one in tokens(cell.text, cell.line) if one.kind == "num" and one.value is not None]
    if len(found) != 1 or not found[0].unit or found[0].unit == "%":
        return None
    number = likeliest_value(found[0])
    unit = likeliest_value(found[0]._replace(value=Fraction(1)))
    if number is None or unit is None:
        return None
    half = unit / 10 ** found[0].places / 2
    return number - half, number + half


def _claim(scene: Scene, one: _Read, verdict: str, reason: object) -> Claim:
    value, right = one.token.value or Exact(0), (one.low + one.high) / 2
    facts: dict[str, object] = {"value": whole(value), "expected": whole(right), "difference": whole(value - right), "reason": reason}
    return claim(scene.lines, one.token, one.token, "share", verdict, **facts)
