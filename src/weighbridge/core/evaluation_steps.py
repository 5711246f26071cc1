"""From a formula to its value, one step at a time: what a derivation writes between the equals signs."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.core.formula import Expression, Floor, Number, Product, Quotient, Sum, Symbol, evaluate
from weighbridge.core.sizes import as_int


def chain(formula: Expression, values: Mapping[str, int]) -> tuple[Expression, ...]:
    """Return the formula, the formula with its numbers, each step of the arithmetic, and the value.

    >>> H = Symbol("H")
    >>> [str(step) for step in chain(4 * (H * H + H), {"H": 768})]
    ['4*(H^2 + H)', '4*(768^2 + 768)', '4*(589824 + 768)', '4*590592', '2362368']
    """
    numbers = {letter: Number(value) for letter, value in values.items()}
    steps = [formula]
    step = substitute(formula, numbers)
    if str(step) != str(formula):
        steps.append(step)
    while not isinstance(step, Number):
        step = reduce(step)
        if str(step) != str(steps[-1]):  # a number with its sign worked out is written as before
            steps.append(step)
    return tuple(steps)


def substitute(expression: Expression, numbers: Mapping[str, Number]) -> Expression:
    """Put numbers in place of the letters and work nothing out; one letter is one number object, so powers stay powers."""
    match expression:
        case Symbol():
            return numbers[expression.letter]
        case Sum():
            return Sum(tuple(substitute(term, numbers) for term in expression.terms))
        case Product():
            return Product(tuple(substitute(factor, numbers) for factor in expression.factors))
        case Quotient():
            return Quotient(substitute(expression.numerator, numbers), substitute(expression.denominator, numbers))
        case Floor():
            return Floor(substitute(expression.numerator, numbers), substitute(expression.denominator, numbers))
        case _:
            return expression


def reduce(expression: Expression) -> Expression:
    """Work out whatever has only numbers in it, and nothing else: one line of a hand calculation."""
    if isinstance(expression, Number):
        return expression
    inner = _operands(expression)
    if all(isinstance(operand, Number) for operand in inner):
        return Number(as_int(evaluate(expression, {})))
    match expression:
        case Sum():
            return Sum(tuple(reduce(term) for term in inner))
        case Product():
            return Product(tuple(reduce(factor) for factor in inner))
        case Quotient():
            return Quotient(reduce(expression.numerator), reduce(expression.denominator))
        case _:
            assert isinstance(expression, Floor)
            return Floor(reduce(expression.numerator), reduce(expression.denominator))


def _operands(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Sum():
            return expression.terms
        case Product():
            return expression.factors
        case Quotient() | Floor():
            return (expression.numerator, expression.denominator)
        case _:
            raise TypeError(f"{expression!r} has no number for its letters")
