"""A small precedence parser: from tokens to a term, and from a term to an exact number or a polynomial.

Nothing is evaluated but the four operations and bounded powers; depth, length and size are bounded, so that no
text can make it hang.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from weighbridge.auditing.text.size_words import SYMBOLS
from weighbridge.auditing.text.tokens import Token
from weighbridge.core.formula import Symbol
from weighbridge.core.polynomials import Atom, Coefficient, Monomial, Polynomial

_DEEPEST = 40
_HIGHEST_POWER = 12
_LARGEST = 10**60
_MOST_TERMS = 200
_LONGEST = 400
"""Tokens; a longer formula is no formula that a person wrote."""


class Binary(NamedTuple):
    """An operation on two terms."""

    operation: str
    left: Term
    right: Term


class Negative(NamedTuple):
    """A term with a minus sign."""

    term: Term


Term: TypeAlias = "Token | Binary | Negative"
"""A number or a name (a token), or an operation on terms."""


class Parsed(NamedTuple):
    """A term, where it ends, and whether an operation follows it that leads nowhere."""

    term: Term
    end: int
    dangling: bool


class _Unreadable(Exception):
    """There is no term here."""


def parse(tokens: Sequence[Token], start: int, end: int) -> Parsed | None:
    """Read the longest term that starts at *start*.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> parse(tokens("2 * (3 + 4) words", 0), 0, 8).end
    7
    """
    if all(token.kind == "(" for token in tokens[start : start + _DEEPEST]):
        return None
    try:
        term, position, dangling = _sum(tokens, start, min(end, start + _LONGEST), 0)
    except _Unreadable:
        return None
    return Parsed(term, position, dangling)


def _sum(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int, bool]:
    if depth > _DEEPEST:
        raise _Unreadable
    negative = at < end and tokens[at].kind == "op" and tokens[at].text == "-"
    term, at, dangling = _product(tokens, at + negative, end, depth)
    term = Negative(term) if negative else term
    while not dangling and at < end and tokens[at].kind == "op" and tokens[at].text in "+-":
        operation = tokens[at].text
        try:
            right, after, dangling = _product(tokens, at + 1, end, depth)
        except _Unreadable:
            return term, at, True
        term, at = Binary(operation, term, right), after
    return term, at, dangling


def _product(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int, bool]:
    term, at = _power(tokens, at, end, depth)
    while at < end:
        token = tokens[at]
        if token.kind == "op" and token.text in "*/":
            try:
                right, after = _power(tokens, at + 1, end, depth)
            except _Unreadable:
                return term, at, True
            term, at = Binary(token.text, term, right), after
            continue
        if not _multiplies(tokens, at, end, term):
            break
        try:
            right, after = _power(tokens, at, end, depth)
        except _Unreadable:
            break
        term, at = Binary("*", term, right), after
    return term, at, False


def _power(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int]:
    term, at = _operand(tokens, at, end, depth)
    if at + 1 < end and tokens[at].kind == "op" and tokens[at].text == "^":
        right, at = _operand(tokens, at + 1, end, depth)
        return Binary("^", term, right), at
    return term, at


def _operand(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int]:
    if at >= end:
        raise _Unreadable
    token = tokens[at]
    if token.kind in ("num", "name"):
        return token, at + 1
    if token.kind != "(":
        raise _Unreadable
    term, at, dangling = _sum(tokens, at + 1, end, depth + 1)
    if dangling or at >= end or tokens[at].kind != ")":
        raise _Unreadable
    return term, at + 1


def _multiplies(tokens: Sequence[Token], at: int, end: int, left: Term) -> bool:
    """Tell whether what follows without a sign is a factor: ``4H``, ``12LH``, ``2(4H + 1)``."""
    token, before = tokens[at], tokens[at - 1]
    if token.start != before.end or token.line != before.line:
        return _is_spaced_product(tokens, at, end)
    if token.kind == "name":
        lettered = len(token.text) == 1 and (before.kind == "num" or (before.kind == "name" and len(before.text) == 1))
        return lettered and before.unit == ""
    if token.kind == "(" and before.kind == "name" and before.text in ("l", "L", "N", "n"):
        return True  # ``l(12h^2 + 13h)``: so many layers
    if token.kind != "(" or before.kind not in ("num", ")") or before.unit:
        return False
    if before.kind == "num" and (before.value is None or before.value >= 1000 or before.places):
        return False
    return _holds_sum(tokens, at, end)


def _is_spaced_product(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tell whether a number and a letter with a space between them are a term of a sum: ``7,084,800 + 4 H = ...``."""
    token, before = tokens[at], tokens[at - 1]
    lettered = token.kind == "name" and len(token.text) == 1 and before.kind == "num" and not before.unit and token.line == before.line
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    closed = after is None or after.kind in ("op", "rel", ")") or after.line != token.line
    return lettered and closed and at > 1 and tokens[at - 2].kind == "op" and tokens[at - 2].line == token.line


def _holds_sum(tokens: Sequence[Token], at: int, end: int) -> bool:
    for place in range(at + 1, min(end, at + 40)):
        if tokens[place].kind == ")":
            return False
        if tokens[place].kind == "op" and tokens[place].text in "+-":
            return True
        if tokens[place].kind not in ("num", "name", "op", "("):
            return False
    return False


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
    return None if left is None or right is None else _combined(term.operation, left, right)


def _combined(operation: str, left: Fraction, right: Fraction) -> Fraction | None:
    if operation == "/":
        result = left / right if right else None
    elif operation == "^":
        small = right.denominator == 1 and 0 <= right <= 64 and abs(left.numerator) ** min(3, int(right)) < _LARGEST
        result = left ** int(right) if small and left.numerator.bit_length() * int(right) < 400 else None
    else:
        result = left + right if operation == "+" else left - right if operation == "-" else left * right
    return None if result is None or abs(result.numerator) > _LARGEST or result.denominator > _LARGEST else result


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
    corners = [_combined(term.operation, a, b) for a in left for b in right]
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


def polynomial(term: Term, meant: Mapping[str, str]) -> Polynomial | None:
    """Expand a term into a polynomial in the letters of :data:`SYMBOLS`.

    Args:
        meant: What single letters mean in this text, as our words for sizes.
    """
    if isinstance(term, Token):
        if term.kind == "num":
            return None if term.value is None or term.unit else _constant(term.value)
        word = term.text if term.text in SYMBOLS else meant.get(term.text)
        letter = SYMBOLS.get(word or "", term.text)
        return Polynomial({((symbol(letter), 1),): 1})
    if isinstance(term, Negative):
        inner = polynomial(term.term, meant)
        return None if inner is None else _constant(Fraction(-1)) * inner
    left, right = polynomial(term.left, meant), polynomial(term.right, meant)
    return None if left is None or right is None else _joined(term.operation, left, right)


def _joined(operation: str, left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(left.terms) * max(1, len(right.terms)) > _MOST_TERMS:
        return None
    if operation == "+":
        return left + right
    if operation == "-":
        return left + _constant(Fraction(-1)) * right
    if operation == "*":
        return left * right
    if operation == "/":
        return _divided(left, right)
    exponent = right.terms.get((), 0)
    if len(right.terms) > 1 or exponent != int(exponent) or not 0 <= exponent <= _HIGHEST_POWER:
        return None
    result = _constant(Fraction(1))
    for _ in range(int(exponent)):
        result = result * left
        if len(result.terms) > _MOST_TERMS:
            return None
    return result


def _divided(left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(right.terms) != 1:
        return left.over(right)
    ((monomial, coefficient),) = right.terms.items()
    return left * Polynomial({tuple((atom, -power) for atom, power in monomial): _whole(Fraction(1) / coefficient)})


def _constant(number: Fraction) -> Polynomial:
    return Polynomial({(): _whole(number)})


def _whole(number: Fraction) -> int | Fraction:
    return int(number) if number.denominator == 1 else number


def symbol(letter: str) -> Symbol:
    """Return the symbol of a letter, in the order in which the paper's formulas have them.

    >>> symbol("H").order
    3
    """
    return Symbol(letter, order="VSTHILA".find(letter) if letter in "VSTHILA" else 50)


def plain(formula: Polynomial) -> Polynomial:
    """Return a formula with the symbols that are used here."""
    terms: dict[Monomial, Coefficient] = {}
    for monomial, coefficient in formula.terms.items():
        renamed: list[tuple[Atom, int]] = [(symbol(atom.letter), power) for atom, power in monomial]
        terms[tuple(sorted(renamed, key=lambda item: (item[0].order, item[0].letter)))] = coefficient
    return Polynomial(terms)
