"""Columns of arithmetic in tables of image models: ``FLOPs (G)``, ``GMACs``, held against one image's pass of the model of their row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.accounts.inputs import inputs
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.table_subjects import ModelTable
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import WORK_AGREED, WORK_COLUMN_TOLERANCE
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import value_bounds, whole
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens
from weighbridge.conventions.arithmetic import count_arithmetic
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_HEAD = pattern(r"(?<![a-z])(?P<unit>[GMT]?)(?:FLOPs?|MACs?|Mult-?Adds?|MAdds?)(?![a-z/])(?! ?/ ?s)|浮点运算|计算量", re.IGNORECASE)
_OF_HEAD = pattern(r"[(（\[,]\s?(?:[×x]\s?)?(?P<unit>[GMTB]|10\^?9)\s?(?:FLOPs?|MACs?)?[)）\]]?", re.IGNORECASE)
_FIGURE = pattern(r"[\s*`~≈]*(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>[GMTB]?)(?:FLOPs?|MACs?)?[\s*`]*", re.IGNORECASE)
_SCALES = {"m": 10**6, "g": 10**9, "b": 10**9, "10^9": 10**9, "109": 10**9, "t": 10**12}
_TOOLS = ("torch", "fvcore", "mmcv")
"""Tools whose counts published tables take: two FLOPs for a multiply-add or one, without what attention multiplies."""
_IMAGES = (128, 160, 192, 224, 256, 288, 320, 336, 384, 448, 480, 512, 518, 560, 640, 768, 800, 896, 1024)
"""Sides of the square images that models are run on."""
_USUAL = 224
_ATTENTION = Fraction(5, 4)
"""How much faster than an image's area its arithmetic may grow, for what attention multiplies."""


class _Figure(NamedTuple):
    """A figure of arithmetic in a table, with its row's models and their ways of counting."""

    row: Row | None
    token: Token
    value: Fraction
    subject: Subject
    ways: tuple[Fraction, ...]

    @property
    def right(self) -> Fraction | None:
        """The count that the figure is, but for its rounding."""
        low, high = (bound * self.value / (self.token.value or 1) for bound in value_bounds(self.token, Fraction(1)))
        near = [way for way in self.ways if low <= way <= high or abs(way - self.value) <= way * WORK_COLUMN_TOLERANCE]
        return min(near, key=lambda way: abs(way - self.value), default=None)


def check(scene: Scene, bound: Sequence[ModelTable]) -> Iterator[Claim]:
    """Check the columns of arithmetic of tables whose rows are image models; one figure is wrong where most others of its column are right."""
    for one in bound:
        rows = {id(row): (row, subject) for row, _, _, subject, _ in one.cells}
        for place, head in enumerate(column_heads(one.table)):
            if _HEAD.search(head):
                yield from _judge(scene, [f for row, subject in rows.values() for f in _figures(row, place, head, subject)])


def _judge(scene: Scene, column: Sequence[_Figure]) -> Iterator[Claim]:
    right = [figure for figure in column if figure.right is not None]
    sure = len(right) >= WORK_AGREED and len(right) * 3 >= len(column) * 2
    for figure in column:
        true = figure.right
        if true is not None:
            yield _claim(scene, figure, "rounded", true)
        elif sure and figure.subject.firm and not _is_at_another_image(figure):
            yield _claim(scene, figure, "wrong", min(figure.ways, key=lambda way: abs(way - figure.value)))


def hold_figure(scene: Scene, token: Token, unit: str, subject: Subject) -> Iterator[Claim]:
    """Hold a figure of arithmetic that a line says of its one model; it is wrong where no image that models are run on explains it."""
    ways = tuple(dict.fromkeys(way for model in subject.models for way in _ways(model)))
    figure = _Figure(None, token, (token.value or Fraction(0)) * _SCALES[unit.lower()], subject, ways)
    if ways and figure.right is not None:
        yield _claim(scene, figure, "rounded", figure.right)
    elif ways and not _is_at_another_image(figure):
        yield _claim(scene, figure, "wrong", min(ways, key=lambda way: abs(way - figure.value)))


def _figures(row: Row, place: int, head: str, subject: Subject) -> Iterator[_Figure]:
    cell = row.cells[place] if place < len(row.cells) else None
    match = _FIGURE.fullmatch(cell.text) if cell is not None else None
    ways = tuple(dict.fromkeys(way for model in subject.models for way in _ways(model)))
    if cell is None or match is None or not ways:
        return
    named, after = _HEAD.search(head), _OF_HEAD.search(head)
    unit = match["unit"] or (named["unit"] if named else "") or (after["unit"] if after else "")
    found = _token(cell, match)
    if unit and found is not None and found.value:
        yield _Figure(row, found, found.value * _SCALES[unit.lower()], subject, ways)


def _token(cell: Cell, match: re.Match[str]) -> Token | None:
    token = next((t for t in tokens(match["number"], cell.line) if t.kind == "num"), None)
    start = cell.start + match.start("number")
    return token._replace(start=start, end=start + len(match["number"])) if token is not None else None


@lru_cache(maxsize=256)
def _ways(model: ModelValue) -> tuple[Fraction, ...]:
    """Return what one image's pass comes to as the tools count it, and in the other unit; nothing for a model that reads words."""
    if model.description is None or values_of(model, "vocab"):
        return ()
    found = []
    for tool in _TOOLS:
        try:
            counted = count_arithmetic(model, inputs(images=1), tool).value
        except WeighbridgeError:
            continue
        found += [Fraction(counted), Fraction(counted) / 2 if tool == "torch" else Fraction(counted) * 2]
    return tuple(dict.fromkeys(found))


def _is_at_another_image(figure: _Figure) -> bool:
    """Tell whether a figure may be that of a larger or smaller image; where the row says the model's own side, it is not."""
    sides = {side for model in figure.subject.models for side in values_of(model, "image")} or {_USUAL}
    text = " ".join(cell.text for cell in figure.row.cells) if figure.row is not None else ""
    if any(re.search(rf"(?<![\d.]){side}(?![\d.])", text) for side in sides):
        return False
    areas = (Fraction(other * other, side * side) for side in sides for other in _IMAGES)
    return any(
        way * area * (1 - WORK_COLUMN_TOLERANCE)
        <= figure.value
        <= way * area * max(1, area > 1 and _ATTENTION) * (1 + WORK_COLUMN_TOLERANCE)
        for area in areas
        for way in figure.ways
    )


def _claim(scene: Scene, figure: _Figure, verdict: str, true: Fraction) -> Claim:
    reason = because(mark("{name} has {right}"), name=Sentence(figure.subject.name), right=whole(true))
    facts = {"value": whole(figure.value), "expected": whole(true), "difference": whole(figure.value - true), "reason": reason}
    return claim(scene.lines, figure.token, figure.token, "total", verdict, **facts)
