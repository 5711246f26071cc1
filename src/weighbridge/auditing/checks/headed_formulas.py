"""Columns headed by a formula in the letters of other columns: ``| 隐藏维度 h | 层数 n | 12nh^2 |``, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.letter_formulas import evaluate
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table
from weighbridge.core.messages import mark

_LETTER = pattern(r"(?:^|[\s,，(（]|(?<=[\u4e00-\u9fff]))([bshlandVk])[)）]?\s*$")
_FORMULA = pattern(r"(?:^|[\s,，:：(（=]|(?<=[\u4e00-\u9fff]))(?P<formula>[0-9(]*[bshlandVk][0-9bshlandVk()+\-*/^×· ]*)[)）]?\s*$")
_FAR = 10
"""How many times off a figure may be and still be meant for its column's formula."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the rows of such a column where at least one of them is what the formula gives."""
    for table in scene.tables:
        heads = column_heads(table)
        letters = {found[1]: place for place, head in enumerate(heads) if (found := _LETTER.search(head)) is not None}
        for place, head in enumerate(heads):
            found = _FORMULA.search(head)
            used = set(_ONE.findall(found["formula"])) if found is not None else set()
            if (
                found is not None
                and place not in letters.values()
                and used
                and used <= letters.keys()
                and len(found["formula"].strip()) > 1
            ):
                yield from _column(scene, table, place, found["formula"], {letter: letters[letter] for letter in used})


_ONE = pattern(r"[bshlandVk]")


def _column(scene: Scene, table: Table, place: int, formula: str, letters: dict[str, int]) -> Iterator[Claim]:
    said = []
    for row in table.rows:
        if len(row.cells) <= max(place, *letters.values()):
            continue
        values = {letter: number for letter, at in letters.items() if (number := whole_number(row.cells[at])) is not None}
        mine, cell = whole_number(row.cells[place]), row.cells[place]
        right = evaluate(formula, values) if len(values) == len(letters) else None
        if mine and right:
            said.append((cell, mine, right))
    agreed = sum(mine == right for _, mine, right in said)
    for cell, mine, right in said if agreed else ():
        token = Token("num", cell.text, cell.line, cell.start, cell.end, Fraction(mine))
        facts: dict[str, object] = {"value": mine, "expected": int(right), "difference": mine - int(right)}
        if mine == right:
            yield claim(scene.lines, token, token, "arithmetic", "exact", **facts)
        elif right.denominator == 1 and mine * _FAR > right > Fraction(mine, _FAR):
            yield claim(
                scene.lines, token, token, "arithmetic", "wrong", **facts, reason=because(mark("should be {right}"), right=int(right))
            )
