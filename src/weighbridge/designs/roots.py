"""Whole numbers at which a polynomial with exact coefficients takes a value: all of them, with nothing rounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TypeAlias

Coefficients: TypeAlias = Sequence[Fraction]
"""Of a polynomial in one unknown, the constant first."""


def value_at(coefficients: Coefficients, x: int) -> Fraction:
    """Evaluate a polynomial.

    >>> value_at([Fraction(1), Fraction(0), Fraction(3)], 2)
    Fraction(13, 1)
    """
    result = Fraction(0)
    for coefficient in reversed(coefficients):
        result = result * x + coefficient
    return result


def in_ints(coefficients: Coefficients) -> tuple[int, list[int]]:
    """Return the least number that makes all coefficients whole, and the coefficients times it: whole numbers are quicker.

    >>> in_ints([Fraction(1), Fraction(1, 2), Fraction(1, 3)])
    (6, [6, 3, 2])
    """
    scale = lcm(*(coefficient.denominator for coefficient in coefficients))
    return scale, [int(coefficient * scale) for coefficient in coefficients]


def value_of(coefficients: Sequence[int], x: int) -> int:
    """Evaluate a polynomial whose coefficients are ints.

    >>> value_of([1, 0, 3], 2)
    13
    """
    result = 0
    for coefficient in reversed(coefficients):
        result = result * x + coefficient
    return result


def crossings(coefficients: Coefficients, target: int, low: int, high: int) -> list[int]:
    """Return every whole number in ``[low, high]`` at which the polynomial reaches or passes *target*, in order.

    Between two neighbours of the result (and the ends of the range) the polynomial stays on one side of *target*, so
    the solutions are all among the result, and so are the nearest values from the other side.

    >>> crossings([Fraction(0), Fraction(0), Fraction(1)], 50, -10, 10)
    [-8, -7, 7, 8]
    >>> crossings([Fraction(0), Fraction(0), Fraction(1)], 49, 1, 10)
    [7]
    """
    shifted = [coefficients[0] - target, *coefficients[1:]] if coefficients else [Fraction(-target)]
    found = set()
    turns = _turns(shifted, low, high)
    for start, end in pairwise(turns):
        found.update(_find_crossing(shifted, start, end))
    if low == high and value_at(shifted, low) == 0:
        found.add(low)
    return sorted(found)


def _turns(coefficients: Coefficients, low: int, high: int) -> list[int]:
    """Return the ends of stretches on which the polynomial rises or falls throughout, neighbours apart by one between them."""
    slope = [power * coefficient for power, coefficient in enumerate(coefficients)][1:]
    if not any(slope[1:]):
        return sorted({low, high})
    points = {low, high}
    inner = _turns(slope, low, high)
    for start, end in pairwise(inner):
        points.update(_find_crossing(slope, start, end))
        if end - start == 1:  # between neighbours the slope may turn, and pass zero unseen
            points.update((start, end))
    return sorted(points)


def _find_crossing(coefficients: Coefficients, start: int, end: int) -> list[int]:
    """Return the zero of a polynomial that only rises or only falls from *start* to *end*, or the two whole numbers about it."""
    first, last = value_at(coefficients, start), value_at(coefficients, end)
    if first == 0 or last == 0:
        return [point for point, value in ((start, first), (end, last)) if value == 0]
    if (first < 0) == (last < 0):
        return []
    while end - start > 1:
        middle = (start + end) // 2
        value = value_at(coefficients, middle)
        if value == 0:
            return [middle]
        start, end = (middle, end) if (value < 0) == (first < 0) else (start, middle)
    return [start, end]
