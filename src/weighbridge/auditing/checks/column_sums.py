"""Sums down a column: the row called total against the rows above it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import LEAST_ROWS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, scales, value_bounds, whole, write_like
from weighbridge.auditing.text.tables import Row, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

TOTAL = pattern(r"^\W*(?:(?:grand |sub)?total|sum|合计|总计|小计|总和|总参数)|小计|subtotal", re.IGNORECASE)
"""What a line or a row begins with that is the sum of those above it."""
_OF_GROUP = pattern(r"小计|subtotal|sub-total", re.IGNORECASE)
"""What a row is called that is the sum of those above it, down from the last such row."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check each total of each column; one that is none of the sums above it is wrong if one digit makes it one, or another subtotal is its rows' sum."""
    for table in scene.tables:
        if not any(TOTAL.search(row.cells[0].text) for row in (*table.head, *table.rows)):
            continue
        width = max(len(row.cells) for row in (*table.head, *table.rows))
        for column in range(1, width):
            yield from _column(scene, table, column)


def _column(scene: Scene, table: Table, column: int) -> Iterator[Claim]:
    above: list[Token] = []
    since: list[Token] = []
    subtotals: list[Token] = []
    doubtful: list[tuple[Token, list[Token]]] = []
    agreed = 0
    for row in (*table.head, *table.rows):
        figure = figure_of(row, column)
        if figure is None:
            continue
        if not TOTAL.search(row.cells[0].text):
            above.append(figure)
            since.append(figure)
            continue
        ways = [way for way in (above, since, subtotals, [*subtotals, *since]) if len(way) >= LEAST_ROWS]
        judged = _hold(scene, figure, ways)
        if judged is not None:
            yield judged
        closes = len(since) >= LEAST_ROWS and _OF_GROUP.search(row.cells[0].text) is not None
        agreed += closes and is_sum(figure, since)
        if judged is None and closes:
            doubtful.append((figure, since))
        subtotals.append(figure)
        since = []
    for figure, parts in doubtful if agreed else ():
        right = _sum(parts)
        if figure.unit and all(part.unit == figure.unit for part in parts):
            yield _claim(scene, figure, "wrong", right, because(mark("the rows above add up to {right}"), right=write_like(figure, right)))


def _sum(parts: Sequence[Token]) -> Fraction:
    return sum((likeliest_value(part) or Fraction(0) for part in parts), Fraction(0))


def is_sum(total: Token, parts: Sequence[Token]) -> bool:
    """Tell whether a figure is the sum of others, each as it may have been rounded."""
    low, high = value_bounds(total, scales(total)[0])
    bounds = [value_bounds(token, scales(token)[0]) for token in parts]
    return sum(low for low, _ in bounds) <= high and low <= sum(high for _, high in bounds)


def figure_of(row: Row, column: int) -> Token | None:
    """Return the number in a cell that holds nothing else, but for a remark behind it."""
    if column >= len(row.cells):
        return None
    cell = row.cells[column]
    found = tokens(cell.text, cell.line)
    figure = next((token for token in found if token.kind in ("num", "word", "name")), None)
    counts = figure is not None and figure.kind == "num" and figure.value is not None and figure.unit != "%"
    small = figure is not None and figure.value is not None and figure.value < 1 and not figure.unit
    if figure is None or not counts or small or any(token.text in ("/", "-", "×", "*") for token in found[:3]):
        return None
    return figure._replace(start=cell.start + figure.start, end=cell.start + figure.end)


def _hold(scene: Scene, total: Token, ways: Sequence[Sequence[Token]]) -> Claim | None:
    number = likeliest_value(total)
    assert number is not None
    for way in ways:
        if is_sum(total, way):
            exact = all(not token.unit and not token.places for token in (*way, total))
            return _claim(scene, total, "exact" if exact else "rounded", number, because(mark("the sum of the rows above")))
    for way in ways:
        right = _sum(way)
        plain = all(not token.unit and not token.places for token in (*way, total)) and number >= 1000
        if plain and right.denominator == 1 and is_slip(str(int(number)), str(int(right))):
            return _claim(scene, total, "wrong", right, because(mark("the rows above add up to {right}"), right=right))
    return None


def _claim(scene: Scene, token: Token, verdict: str, right: Fraction, reason: Reason) -> Claim:
    number = likeliest_value(token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
