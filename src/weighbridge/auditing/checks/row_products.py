"""Rows that hold a computation and its result in two cells: ``| 前馈网络 | 768×3072+3072 | 2,362,368 |``."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.arithmetic import claims_of
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.equations import Chain, chains
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import LEAST_SUMS

_RIGHT = frozenset(("exact", "rounded", "convention", "note"))
_WIDEST = 8
"""Columns of a table that are tried against each other."""
_SMALLEST = 100
"""A smaller result is the product of what stands beside it by chance: patches of 16 × 16 in 12 layers."""


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the results of a column against the computations of another; one is wrong where another row of the two is right.

    A product may be only a shape, whose count has biases too: what is no slip of one digit must then be a sum that states them.
    """
    for table in scene.tables:
        for column, result in _pairs(table):
            found = [claim for row in table.rows if (claim := _judge(scene, row.cells, column, result)) is not None]
            right = [claim for claim in found if claim.verdict in _RIGHT]
            wrong = [claim for claim in found if claim.verdict == "wrong"]
            if right and not wrong:
                yield from right
            elif len(wrong) == 1 and right:
                summed = "+" in next(
                    row.cells[column].text for row in table.rows if scene.lines[row.cells[result].line].number == wrong[0].line
                )
                yield from found if _is_mistyped(wrong[0]) or (summed and len(right) >= LEAST_SUMS) else right


def _is_mistyped(claim: Claim) -> bool:
    said, expected = claim.value, claim.expected
    return isinstance(said, int | Fraction) and isinstance(expected, int | Fraction) and is_slip(str(int(said)), str(int(expected)))


def _pairs(table: Table) -> Iterator[tuple[int, int]]:
    """Yield the columns of computations, each with one of single numbers."""
    kinds = [{_kind(row.cells[place].text) for row in table.rows if place < len(row.cells)} for place in range(_WIDEST)]
    for column, kind in enumerate(kinds):
        if "formula" in kind:
            yield from ((column, other) for other, one in enumerate(kinds) if other != column and "number" in one and "formula" not in one)


@once_for_each_text
def _kind(text: str) -> str:
    """Return what a cell holds: a ``formula`` of numbers, one ``number``, or neither."""
    found = _tokens(text, 0)
    numbers = [token for token in found if token.kind == "num"]
    if len(numbers) == 1 and len(found) == 1:
        return "number"
    plain = all(token.kind in ("num", "op", "(", ")") for token in found)
    return "formula" if plain and len(numbers) > 1 and any(token.kind == "op" and token.text in "*+" for token in found) else ""


def _tokens(text: str, line: int) -> list[Token]:
    return [token for token in tokens(text, line) if token.text not in "`~≈约" and not (token.kind == "op" and token.text == "**")]


def _judge(scene: Scene, cells: tuple[Cell, ...] | list[Cell], column: int, result: int) -> Claim | None:
    """Judge the result of a row, if both its cells are what their columns hold."""
    if max(column, result) >= len(cells) or _kind(cells[column].text) != "formula" or _kind(cells[result].text) != "number":
        return None
    (number,) = _tokens_in_line(cells[result])
    if number.value is None or (number.value < _SMALLEST and not number.unit):
        return None
    formula = _tokens_in_line(cells[column])
    equals = Token("rel", "=", cells[column].line, formula[-1].end, formula[-1].end)
    made: list[Chain] = list(chains([*formula, equals, number]))
    judged = claims_of(scene, made[0]) if len(made) == 1 and len(made[0].sides) > 1 else []
    if len(judged) != 1:
        return None
    text = scene.lines[number.line].text[number.start : number.end]
    line = scene.lines[number.line]
    return judged[0]._replace(start=line.at[number.start], end=line.at[number.end - 1] + 1, text=text)


def _tokens_in_line(cell: Cell) -> list[Token]:
    return [token._replace(start=cell.start + token.start, end=cell.start + token.end) for token in _tokens(cell.text, cell.line)]
