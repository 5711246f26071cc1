"""The numbers of a text: fractions that compare and compute as quickly as whole numbers, which nearly all of them are."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Exact(Fraction):
    """A fraction that asks no registry of number types: every check of a text compares every number of it, and many compute with it.

    What is computed with it and with whole numbers or fractions is one too; with anything else, what fractions make of it.

    >>> Exact(768) * Exact(3) >= 2304, Exact(1, 2) < Exact(2, 3), Exact(768) == Fraction(768), hash(Exact(768)) == hash(768)
    (True, True, True, True)
    >>> Exact(1, 6) + Fraction(1, 3), 1 - Exact(1, 4), 3 / Exact(6), Fraction(2, 3) * Exact(3, 2), -Exact(5), abs(Exact(-1, 2))
    (Fraction(1, 2), Fraction(3, 4), Fraction(1, 2), Fraction(1, 1), Fraction(-5, 1), Fraction(1, 2))
    """

    __slots__ = ()
    _numerator: int
    _denominator: int
    if not TYPE_CHECKING:
        numerator = Fraction._numerator  # the slot itself, where a fraction has a property that calls a function
        denominator = Fraction._denominator

    def __lt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator < other * self._denominator
        if type(other) is Exact or type(other) is Fraction:
            return self._numerator * other.denominator < other.numerator * self._denominator
        return Fraction.__lt__(self, other)

    def __le__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator <= other * self._denominator
        if type(other) is Exact or type(other) is Fraction:
            return self._numerator * other.denominator <= other.numerator * self._denominator
        return Fraction.__le__(self, other)

    def __gt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator > other * self._denominator
        if type(other) is Exact or type(other) is Fraction:
            return self._numerator * other.denominator > other.numerator * self._denominator
        return Fraction.__gt__(self, other)

    def __ge__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator >= other * self._denominator
        if type(other) is Exact or type(other) is Fraction:
            return self._numerator * other.denominator >= other.numerator * self._denominator
        return Fraction.__ge__(self, other)

    def __eq__(self, other: object) -> bool:
        if type(other) is int:
            return self._numerator == other and self._denominator == 1
        if type(other) is Exact or type(other) is Fraction:
            return self._numerator == other.numerator and self._denominator == other.denominator
        return Fraction.__eq__(self, other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._numerator) if self._denominator == 1 else Fraction.__hash__(self)

    def __bool__(self) -> bool:
        return self._numerator != 0

    def __neg__(self) -> Any:
        return _exact(-self._numerator, self._denominator)

    def __abs__(self) -> Any:
        return self if self._numerator >= 0 else _exact(-self._numerator, self._denominator)

    def __add__(self, other: Any) -> Any:
        if type(other) is int:
            return _exact(self._numerator + other * self._denominator, self._denominator)
        if type(other) is Exact or type(other) is Fraction:
            return _lowest_terms(
                self._numerator * other.denominator + other.numerator * self._denominator, self._denominator * other.denominator
            )
        return Fraction.__add__(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is int:
            return _exact(self._numerator - other * self._denominator, self._denominator)
        if type(other) is Exact or type(other) is Fraction:
            return _lowest_terms(
                self._numerator * other.denominator - other.numerator * self._denominator, self._denominator * other.denominator
            )
        return Fraction.__sub__(self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return _lowest_terms(self._numerator * other, self._denominator)
        if type(other) is Exact or type(other) is Fraction:
            return _lowest_terms(self._numerator * other.numerator, self._denominator * other.denominator)
        return Fraction.__mul__(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is int and other > 0:
            return _lowest_terms(self._numerator, self._denominator * other)
        if (type(other) is Exact or type(other) is Fraction) and other.numerator > 0:
            return _lowest_terms(self._numerator * other.denominator, self._denominator * other.numerator)
        return Fraction.__truediv__(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if type(other) is int and self._numerator > 0:
            return _lowest_terms(self._denominator * other, self._numerator)
        if type(other) is Fraction and self._numerator > 0:
            return _lowest_terms(other.numerator * self._denominator, other.denominator * self._numerator)
        return Fraction.__rtruediv__(self, other)

    def __repr__(self) -> str:
        return f"Fraction({self._numerator}, {self._denominator})"


_new = object.__new__


def _exact(numerator: int, denominator: int) -> Exact:
    """Return the number of a numerator and a denominator that have nothing in common."""
    made = _new(Exact)
    made._numerator, made._denominator = numerator, denominator
    return made


def _lowest_terms(numerator: int, denominator: int) -> Exact:
    made = _new(Exact)
    if denominator == 1 or (common := gcd(numerator, denominator)) == 1:
        made._numerator, made._denominator = numerator, denominator
    else:
        made._numerator, made._denominator = numerator // common, denominator // common
    return made


def whole_number(number: int) -> Exact:
    """Return a whole number as a fraction.

    >>> whole_number(768)
    Fraction(768, 1)
    """
    return _exact(number, 1)


def as_exact(number: int | Fraction) -> Exact:
    """Return a number as one that compares and computes quickly.

    >>> type(as_exact(Fraction(1, 2))), as_exact(3)
    (<class 'weighbridge.auditing.text.exact.Exact'>, Fraction(3, 1))
    """
    return number if type(number) is Exact else _exact(number.numerator, number.denominator)
