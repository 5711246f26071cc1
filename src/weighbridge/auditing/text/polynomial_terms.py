"""A term in letters as a polynomial."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from weighbridge.auditing.text.expressions import Negative, Term
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import SYMBOLS
from weighbridge.core.formula import Symbol
from weighbridge.core.polynomials import Atom, Coefficient, Monomial, Polynomial

_HIGHEST_POWER = 12


_MOST_TERMS = 200


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
    return None if left is None or right is None else _combine(term.operation, left, right)


@once_for_each_text
def write_difference(said: Polynomial, right: Polynomial) -> str:
    """Write by how much a formula is more than the right one: a text makes the same mistake again."""
    return str(said - right)


def _combine(operation: str, left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(left.terms) * max(1, len(right.terms)) > _MOST_TERMS:
        return None
    if operation == "+":
        return left + right
    if operation == "-":
        return left + _constant(Fraction(-1)) * right
    if operation == "*":
        return left * right
    if operation == "/":
        return _divide(left, right)
    exponent = right.terms.get((), 0)
    if len(right.terms) > 1 or exponent != int(exponent) or not 0 <= exponent <= _HIGHEST_POWER:
        return None
    result = _constant(Fraction(1))
    for _ in range(int(exponent)):
        result = result * left
        if len(result.terms) > _MOST_TERMS:
            return None
    return result


def _divide(left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(right.terms) != 1:
        return left.over(right)
    ((monomial, coefficient),) = right.terms.items()
    return left * Polynomial({tuple((atom, -power) for atom, power in monomial): _as_int(Fraction(1) / coefficient)})


def _constant(number: Fraction) -> Polynomial:
    return Polynomial({(): _as_int(number)})


def _as_int(number: Fraction) -> int | Fraction:
    return int(number) if number.denominator == 1 else number


def symbol(letter: str) -> Symbol:
    """Return the symbol of a letter, in the order in which the paper's formulas have them.

    >>> symbol("H").order
    3
    """
    return Symbol(letter, order="VSTHILA".find(letter) if letter in "VSTHILA" else 50)


def with_our_symbols(formula: Polynomial) -> Polynomial:
    """Return a formula with the symbols that are used here."""
    terms: dict[Monomial, Coefficient] = {}
    for monomial, coefficient in formula.terms.items():
        renamed: list[tuple[Atom, int]] = [(symbol(atom.letter), power) for atom, power in monomial]
        terms[tuple(sorted(renamed, key=lambda item: (item[0].order, item[0].letter)))] = coefficient
    return Polynomial(terms)
