"""What a term amounts to: an exact number, the bounds of a rounded one, and the names and numbers in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from weighbridge.auditing.text.exact import whole_number
from weighbridge.auditing.text.expressions import LARGEST, Negative, Term
from weighbridge.auditing.text.numbers import Token


def value(term: Term, number: Callable[[Token], Fraction | None], sizes: Mapping[str, int]) -> Fraction | None:
    """Evaluate exactly; None if a name has no value, a number is out of bounds, or a divisor is zero."""
    found = _evaluate(term, number, sizes)
    return whole_number(found) if isinstance(found, int) else found


def _evaluate(term: Term, number: Callable[[Token], Fraction | None], sizes: Mapping[str, int]) -> int | Fraction | None:
    """Evaluate with whole numbers as long as they are whole: most are, and a fraction costs ten times as much."""
    if isinstance(term, Token):
        if term.kind != "num":
            return sizes.get(term.text)
        found = number(term)
        return found if found is None or found.denominator != 1 else found.numerator
    if isinstance(term, Negative):
        inner = _evaluate(term.term, number, sizes)
        return None if inner is None else -inner
    left = _evaluate(term.left, number, sizes)
    right = None if left is None else _evaluate(term.right, number, sizes)
    if left is None or right is None:
        return None
    return _combine(term.operation, left, right)


def _combine(operation: str, left: int | Fraction, right: int | Fraction) -> int | Fraction | None:
    if isinstance(left, int) and isinstance(right, int):
        if operation in "+-*":
            whole = left + right if operation == "+" else left - right if operation == "-" else left * right
            return None if abs(whole) > LARGEST else whole
        if operation == "^" and 0 <= right <= 3 and abs(left) <= _SMALL:
            return int(left**right)  # a square of a size, as nearly every power is
    return _apply(operation, Fraction(left), Fraction(right))


_SMALL = 10**12
"""A number whose third power is within all bounds."""


def _apply(operation: str, left: Fraction, right: Fraction) -> Fraction | None:
    if operation == "/":
        result = left / right if right else None
    elif operation == "^":
        small = right.denominator == 1 and 0 <= right <= 64 and abs(left.numerator) ** min(3, int(right)) < LARGEST
        result = left ** int(right) if small and left.numerator.bit_length() * int(right) < 400 else None
    elif left.denominator == right.denominator == 1:
        a, b = left.numerator, right.numerator
        result = whole_number(a + b if operation == "+" else a - b if operation == "-" else a * b)
    else:
        result = left + right if operation == "+" else left - right if operation == "-" else left * right
    return None if result is None or abs(result.numerator) > LARGEST or result.denominator > LARGEST else result


def bounds(term: Term, spread: Callable[[Token], tuple[Fraction, Fraction]], sizes: Mapping[str, int]) -> tuple[Fraction, Fraction] | None:
    """Evaluate between the least and the most that the numbers of a term can stand for; None as for :func:`value`."""
    found = _bounds(term, spread, sizes)
    return None if found is None else (_exact(found[0]), _exact(found[1]))


def _exact(number: int | Fraction) -> Fraction:
    return whole_number(number) if isinstance(number, int) else number


def _bounds(
    term: Term, spread: Callable[[Token], tuple[Fraction, Fraction]], sizes: Mapping[str, int]
) -> tuple[int | Fraction, int | Fraction] | None:
    """Do as :func:`bounds`, with whole numbers where they are whole, and once where least and most are the same."""
    if isinstance(term, Token):
        if term.kind == "num":
            if term.value is None:
                return None
            low, high = spread(term)
            return low if low.denominator != 1 else low.numerator, high if high.denominator != 1 else high.numerator
        known = sizes.get(term.text)
        return None if known is None else (known, known)
    if isinstance(term, Negative):
        inner = _bounds(term.term, spread, sizes)
        return None if inner is None else (-inner[1], -inner[0])
    left = _bounds(term.left, spread, sizes)
    right = None if left is None else _bounds(term.right, spread, sizes)
    if left is None or right is None:
        return None
    lefts, rights = (ends[:1] if ends[0] == ends[1] else ends for ends in (left, right))
    corners = [_combine(term.operation, a, b) for a in lefts for b in rights]
    found = [corner for corner in corners if corner is not None]
    return (min(found), max(found)) if len(found) == len(corners) else None


def names(term: Term) -> set[str]:
    """Return the names in a term."""
    if isinstance(term, Token):
        return {term.text} if term.kind == "name" else set()
    found: set[str] = set()
    rest: list[Term] = [term]
    while rest:
        one = rest.pop()
        if isinstance(one, Token):
            if one.kind == "name":
                found.add(one.text)
        elif isinstance(one, Negative):
            rest.append(one.term)
        else:
            rest += (one.left, one.right)
    return found


def numbers(term: Term) -> list[Token]:
    """Return the numbers in a term, exponents left out."""
    if isinstance(term, Token):
        return [term] if term.kind == "num" else []
    found: list[Token] = []
    rest: list[Term] = [term]
    while rest:
        one = rest.pop()
        if isinstance(one, Token):
            if one.kind == "num":
                found.append(one)
        elif isinstance(one, Negative):
            rest.append(one.term)
        else:
            rest += (one.left,) if one.operation == "^" else (one.right, one.left)
    return found


def is_lone(term: Term) -> bool:
    """Tell whether a term is a single number or name."""
    return isinstance(term, Token)
