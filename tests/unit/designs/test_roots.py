"""Whole-number solutions of polynomials against trying every number."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from weighbridge.designs.roots import crossings, value_at

COEFFICIENTS = st.lists(st.fractions(-50, 50, max_denominator=6), min_size=1, max_size=5)


@given(COEFFICIENTS, st.integers(-400, 400))
def test_every_solution_is_found(coefficients: list[Fraction], target: int) -> None:
    found = crossings(coefficients, target, -40, 40)
    solutions = [x for x in range(-40, 41) if value_at(coefficients, x) == target]
    if len(solutions) < 81:  # a constant that is the target: every number is one
        assert set(solutions) <= set(found)


@given(COEFFICIENTS, st.integers(-400, 400))
@example([Fraction(0), Fraction(0), Fraction(16, 3), Fraction(11, 3)], 0)
def test_between_two_crossings_the_side_stays(coefficients: list[Fraction], target: int) -> None:
    sides = [(value_at(coefficients, x) > target) - (value_at(coefficients, x) < target) for x in range(-40, 41)]
    found = set(crossings(coefficients, target, -40, 40))
    for x, (side, after) in enumerate(pairwise(sides), -40):
        if side and after and side != after:
            assert {x, x + 1} <= found


def test_large_solutions_are_exact() -> None:
    root = 987_654_321_012
    assert crossings([Fraction(0), Fraction(0), Fraction(1)], root**2, 1, 10**15) == [root]
