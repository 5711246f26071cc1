"""What a term amounts to: an exact number, the bounds of a rounded one, and the names and numbers in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from weighbridge.auditing.text.expressions import LARGEST, Negative, Term
from weighbridge.auditing.text.numbers import Token


def value(term: Term, number: Callable[[Token], Fraction | None], sizes: Mapping[str, int]) -> Fraction | None:
    """Evaluate exactly; None if a name has no value, a number is out of bounds, or a divisor is zero."""
    if isinstance(term, Token):
        if term.kind == "num":
            return number(term)
        known = sizes.get(term.text)
        return None if known is None else Fraction(known)
    if isinstance(term, Negative):
        inner = value(term.term, number, sizes)
        return None if inner is None else -inner
    left, right = value(term.left, number, sizes), value(term.right, number, sizes)
    return None if left is None or right is None else _apply(term.operation, left, right)


def _apply(operation: str, left: Fraction, right: Fraction) -> Fraction | None:
    if operation == "/":
        result = left / right if right else None
    elif operation == "^":
        small = right.denominator == 1 and 0 <= right <= 64 and abs(left.numerator) ** min(3, int(right)) < LARGEST
        result = left ** int(right) if small and left.numerator.bit_length() * int(right) < 400 else None
    elif left.denominator == right.denominator == 1:
        a, b = left.numerator, right.numerator
        result = Fraction(a + b if operation == "+" else a - b if operation == "-" else a * b)
    else:
        result = left + right if operation == "+" else left - right if operation == "-" else left * right
    return None if result is None or abs(result.numerator) > LARGEST or result.denominator > LARGEST else result


def bounds(term: Term, spread: Callable[[Token], tuple[Fraction, Fraction]], sizes: Mapping[str, int]) -> tuple[Fraction, Fraction] | None:
    """Evaluate between the least and the most that the numbers of a term can stand for; None as for :func:`value`."""
    if isinstance(term, Token):
        if term.kind == "num":
            return None if term.value is None else spread(term)
        known = sizes.get(term.text)
        return None if known is None else (Fraction(known), Fraction(known))
    if isinstance(term, Negative):
        inner = bounds(term.term, spread, sizes)
        return None if inner is None else (-inner[1], -inner[0])
    left, right = bounds(term.left, spread, sizes), bounds(term.right, spread, sizes)
    if left is None or right is None:
        return None
    corners = [_apply(term.operation, a, b) for a in left for b in right]
    found = [corner for corner in corners if corner is not None]
    return (min(found), max(found)) if len(found) == 4 else None


def names(term: Term) -> set[str]:
    """Return the names in a term."""
    if isinstance(term, Token):
        return {term.text} if term.kind == "name" else set()
    if isinstance(term, Negative):
        return names(term.term)
    return names(term.left) | names(term.right)


def numbers(term: Term) -> list[Token]:
    """Return the numbers in a term, exponents left out."""
    if isinstance(term, Token):
        return [term] if term.kind == "num" else []
    if isinstance(term, Negative):
        return numbers(term.term)
    return numbers(term.left) + (numbers(term.right) if term.operation != "^" else [])


def is_lone(term: Term) -> bool:
    """Tell whether a term is a single number or name."""
    return isinstance(term, Token)
