"""Sums of a list: the line that calls itself the total against the results of the lines above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.column_sums import TOTAL, is_sum
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import LEAST_ROWS, RELATED_DIGITS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, scales, significant_digits, whole, write_like
from weighbridge.auditing.text.size_words import COUNTING
from weighbridge.auditing.thresholds import BLOCK_LINES
from weighbridge.core.messages import mark

_SMALLEST = 1000
"""A smaller total is no count that a list of components adds up to."""
_MARKER = pattern(r"[\s#*(（]*\d{1,2}[.)）、:：]$")
"""The number of an item, which is no result: ``1. Embedding layer``."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check each total below a list; one that is no sum of the lines above it is wrong only if one slip of the pen makes it one."""
    found = (result for statement in scene.statements if (result := _result(statement)) is not None)
    results = {one.line: one for one in found if _MARKER.match(scene.lines[one.line].text, 0, one.end + 1) is None}
    for line, total in results.items():
        number = likeliest_value(total) or Fraction(0)
        if number < _SMALLEST or not TOTAL.search(scene.lines[line].text[: total.start]):
            continue
        parts = _lines_above(results, line)
        right = sum((likeliest_value(part) or Fraction(0) for part in parts), Fraction(0))
        if len(parts) >= LEAST_ROWS and right != number and is_slip(str(int(number)), str(int(right))):
            reason = because(mark("the lines above add up to {right}"), right=right)
            facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right), "reason": reason}
            yield claim(scene.lines, total, total, "arithmetic", "wrong", **facts)
    yield from _check_rounded(scene)


def _check_rounded(scene: Scene) -> Iterator[Claim]:
    """Hold what calls itself the subtotal of a list of rounded figures against them: ``23.4M``, ``0.39M``, ``小计 ≈ 23.8M``."""
    last = {token.line: token for statement in scene.numbered for _, token in scene.figures_of(statement) if token.unit != "%"}
    results = {line: token for line, token in last.items() if token.unit in COUNTING and token.value}
    for line, total in results.items():
        if not TOTAL.search(scene.lines[line].text[: total.start]):
            continue
        least = scales(total)[0] / 10**total.places / 2  # what is less than half of the last place changes nothing
        parts = [part for part in _lines_above(results, line) if part.unit == total.unit or (likeliest_value(part) or 0) >= least]
        if len(parts) < LEAST_ROWS or any(part.unit != total.unit for part in parts):
            continue
        number, right = likeliest_value(total) or Fraction(0), sum((likeliest_value(part) or Fraction(0) for part in parts), Fraction(0))
        shown = write_like(total, right)
        facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
        if is_sum(total, parts):
            yield claim(scene.lines, total, total, "arithmetic", "rounded", **facts, reason=because(mark("the sum of the rows above")))
        elif (total.places or significant_digits(total) >= RELATED_DIGITS) and is_slip(
            *(f"{float(one / scales(total)[0]):.{total.places}f}" for one in (number, right))
        ):
            reason = because(mark("the lines above add up to {right}"), right=shown)
            yield claim(scene.lines, total, total, "arithmetic", "wrong", **facts, reason=reason)


def _result(statement: Sequence[Token]) -> Token | None:
    """Return what a line comes to: its last whole number that has no unit."""
    numbers = [token for token in statement if token.kind == "num" and token.unit != "%"]
    last = numbers[-1] if numbers and numbers[-1].line == statement[0].line else None
    return last if last is not None and not last.unit and not last.places and last.value else None


def _lines_above(results: dict[int, Token], line: int) -> list[Token]:
    """Return the results of the lines right above a total, down from the first of them."""
    found: list[Token] = []
    for above in range(line - 1, max(-1, line - 1 - BLOCK_LINES), -1):
        if above not in results:
            break
        found.append(results[above])
    return found[::-1]
