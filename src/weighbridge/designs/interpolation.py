"""Polynomials in the unknowns of a config: through a grid of counts, evaluated, of one unknown alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from weighbridge.core.formula import Symbol
from weighbridge.core.polynomials import Polynomial

Terms: TypeAlias = dict[tuple[int, ...], Fraction]
"""A polynomial in the unknowns: from the power of each to the coefficient."""


def interpolate(samples: Sequence[tuple[int, ...]], values: Mapping[tuple[int, ...], Fraction]) -> Terms:
    """Return the polynomial through a grid of points: a product of Lagrange's, one for each unknown."""
    bases = [[_lagrange(axis, place) for place in range(len(axis))] for axis in samples]
    terms: Terms = {}
    for places in product(*(range(len(axis)) for axis in samples)):
        point = tuple(axis[place] for axis, place in zip(samples, places, strict=True))
        for powers in product(*(range(len(axis)) for axis in samples)):
            coefficient = values[point]
            for basis, place, power in zip(bases, places, powers, strict=True):
                coefficient *= basis[place][power]
            terms[powers] = terms.get(powers, Fraction(0)) + coefficient
    return {powers: coefficient for powers, coefficient in terms.items() if coefficient}


def _lagrange(axis: Sequence[int], place: int) -> list[Fraction]:
    """Return the coefficients, constant first, of the polynomial that is 1 at one point and 0 at the others."""
    found = [Fraction(1)]
    for index, point in enumerate(axis):
        if index != place:
            scale = Fraction(1, axis[place] - point)
            found = [scale * (a - point * b) for a, b in zip([Fraction(0), *found], [*found, Fraction(0)], strict=True)]
    return found


def polynomial_terms(found: Polynomial, unknowns: list[Symbol]) -> Terms | None:
    """Return a polynomial's coefficients by the powers of the unknowns; None where other symbols or negative powers are in it."""
    terms: Terms = {}
    for monomial, coefficient in found.terms.items():
        powers = dict(monomial)
        own = tuple(powers.pop(unknown, 0) for unknown in unknowns)
        if powers or any(power < 0 for power in own):
            return None
        terms[own] = Fraction(coefficient)
    return terms


def evaluate(terms: Terms, values: Sequence[int]) -> Fraction:
    """Evaluate a polynomial in the unknowns.

    >>> evaluate({(1, 0): Fraction(3), (0, 2): Fraction(1)}, (5, 2))
    Fraction(19, 1)
    """
    total = Fraction(0)
    for powers, coefficient in terms.items():
        for value, power in zip(values, powers, strict=True):
            coefficient *= value**power
        total += coefficient
    return total


def in_one(terms: Terms, index: int = 0) -> list[Fraction]:
    """Return the coefficients of a polynomial that only one unknown is in, the constant first.

    >>> in_one({(0, 2): Fraction(5)}, 1)
    [Fraction(0, 1), Fraction(0, 1), Fraction(5, 1)]
    """
    found = [Fraction(0)] * (max((powers[index] for powers in terms), default=0) + 1)
    for powers, coefficient in terms.items():
        found[powers[index]] += coefficient
    return found
