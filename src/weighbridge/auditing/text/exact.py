"""The numbers of a text: fractions that compare as quickly as whole numbers, which nearly all of them are."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Exact(Fraction):
    """A fraction whose comparisons ask no registry of number types: every check of a text compares every number of it.

    What is computed with it is a plain fraction, but for sums and products of whole numbers.

    >>> Exact(768) * Exact(3) >= 2304, Exact(1, 2) < Exact(2, 3), Exact(768) == Fraction(768), hash(Exact(768)) == hash(768)
    (True, True, True, True)
    """

    __slots__ = ()
    _numerator: int
    _denominator: int

    def __lt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator < other * self._denominator
        if isinstance(other, Exact):
            return self._numerator * other._denominator < other._numerator * self._denominator
        return Fraction.__lt__(self, other)

    def __le__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator <= other * self._denominator
        if isinstance(other, Exact):
            return self._numerator * other._denominator <= other._numerator * self._denominator
        return Fraction.__le__(self, other)

    def __gt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator > other * self._denominator
        if isinstance(other, Exact):
            return self._numerator * other._denominator > other._numerator * self._denominator
        return Fraction.__gt__(self, other)

    def __ge__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator >= other * self._denominator
        if isinstance(other, Exact):
            return self._numerator * other._denominator >= other._numerator * self._denominator
        return Fraction.__ge__(self, other)

    def __eq__(self, other: object) -> bool:
        if type(other) is int:
            return self._numerator == other and self._denominator == 1
        if isinstance(other, Exact):
            return self._numerator == other._numerator and self._denominator == other._denominator
        return Fraction.__eq__(self, other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._numerator) if self._denominator == 1 else Fraction.__hash__(self)

    def __bool__(self) -> bool:
        return self._numerator != 0

    def __add__(self, other: Any) -> Any:
        if type(other) is Exact and self._denominator == 1 == other._denominator:
            return whole_number(self._numerator + other._numerator)
        return Fraction.__add__(self, other)

    def __mul__(self, other: Any) -> Any:
        if type(other) is Exact and self._denominator == 1 == other._denominator:
            return whole_number(self._numerator * other._numerator)
        return Fraction.__mul__(self, other)

    def __repr__(self) -> str:
        return f"Fraction({self._numerator}, {self._denominator})"


def whole_number(number: int) -> Exact:
    """Return a whole number as a fraction.

    >>> whole_number(768)
    Fraction(768, 1)
    """
    made = object.__new__(Exact)
    made._numerator, made._denominator = number, 1
    return made
