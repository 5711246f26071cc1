"""Symbols for sizes: unexpanded expressions that tell the story.

An :class:`Expression` is what a blueprint builds when its sizes are symbols. It stays as it was
written, because a derivation wants ``4 * (H^2 + H)`` and not its expansion; ``polynomials.py`` expands
it, and settles whether two mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, final

from weighbridge.core.errors import ConfigError
from weighbridge.core.sizes import Quantity, Size, exact, product

if TYPE_CHECKING:
    from fractions import Fraction

Coefficient: TypeAlias = "int | Fraction"


class Expression(Quantity):
    """An unexpanded formula. Operators build larger ones; nothing is ever compared or rounded.

    >>> from weighbridge.core.polynomials import polynomial
    >>> H, A = Symbol("H"), Symbol("A", order=1)
    >>> str(4 * (H * H + H)), str(polynomial(A * exact(H, A)))
    ('4*(H^2 + H)', 'H')
    """

    __slots__ = ()

    def __add__(self, other: Size) -> Expression:
        return total((self, other))

    def __radd__(self, other: Size) -> Expression:
        return total((other, self))

    def __sub__(self, other: Size) -> Expression:
        return total((self, times((-1, other))))

    def __rsub__(self, other: Size) -> Expression:
        return total((other, times((-1, self))))

    def __mul__(self, other: Size) -> Expression:
        return times((self, other))

    def __rmul__(self, other: Size) -> Expression:
        return times((other, self))

    def __floordiv__(self, other: Size) -> Expression:
        return Floor(self, as_expression(other))

    def __rfloordiv__(self, other: Size) -> Expression:
        return Floor(as_expression(other), self)

    def divided_exactly(self, other: Size) -> Expression:
        return self if type(other) is int and other == 1 else Quotient(self, as_expression(other))

    def dividing_exactly(self, other: Size) -> Expression:
        return Quotient(as_expression(other), self)

    def __bool__(self) -> bool:
        raise TypeError("a symbol is neither true nor false; branch on switches, not on sizes")

    def __str__(self) -> str:
        from weighbridge.core.notation import TEXT, write

        return write(self, TEXT)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


@final
class Symbol(Expression):
    """A named size: the paper's letter, our word for it, and the config key it comes from."""

    __slots__ = ("key", "letter", "meaning", "order", "word")

    def __init__(self, letter: str, *, word: str = "", key: str = "", meaning: str = "", order: int = 0) -> None:
        self.letter = letter
        self.word = word
        self.key = key
        self.meaning = meaning
        self.order = order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and other.letter == self.letter

    def __hash__(self) -> int:
        return hash(self.letter)


@final
class Number(Expression):
    """A constant; it appears where an int stands alone in a larger expression."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


@final
class Sum(Expression):
    """Terms in the order in which they were written."""

    __slots__ = ("terms",)

    def __init__(self, terms: tuple[Expression, ...]) -> None:
        self.terms = terms


@final
class Product(Expression):
    """Factors in the order in which they were written."""

    __slots__ = ("factors",)

    def __init__(self, factors: tuple[Expression, ...]) -> None:
        self.factors = factors


@final
class Quotient(Expression):
    """An exact quotient: numerator over denominator, without remainder."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Expression, denominator: Expression) -> None:
        self.numerator = numerator
        self.denominator = denominator


@final
class Floor(Expression):
    """A quotient rounded down, as rounding up needs it; opaque to the polynomial ring."""

    __slots__ = ("_letter", "denominator", "numerator")

    def __init__(self, numerator: Expression, denominator: Expression) -> None:
        self.numerator = numerator
        self.denominator = denominator
        self._letter = ""

    @property
    def order(self) -> int:
        """Sort after all symbols."""
        return 1_000_000

    @property
    def letter(self) -> str:
        """A canonical name, so that equal quotients are one atom."""
        if not self._letter:  # as an atom it is compared time and again
            from weighbridge.core.polynomials import polynomial

            self._letter = f"floor(({polynomial(self.numerator)})/({polynomial(self.denominator)}))"
        return self._letter

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Floor) and other.letter == self.letter

    def __hash__(self) -> int:
        return hash(self.letter)


def as_expression(size: Size) -> Expression:
    """Take a size as an expression; a column is no expression."""
    if isinstance(size, Expression):
        return size
    if isinstance(size, int):
        return Number(size)
    raise TypeError(f"a {type(size).__name__} cannot stand in a formula")


def total(sizes: Iterable[Size]) -> Expression:
    """Add up without expanding: nested sums become one, neighbouring constants too, zeros vanish.

    >>> str(total((Symbol("H"), 0, 3)))
    'H + 3'
    """
    terms: list[Expression] = []
    for size in sizes:
        term = as_expression(size)
        if isinstance(term, Sum):
            terms.extend(term.terms)
        elif isinstance(term, Number) and terms and isinstance(terms[-1], Number):
            terms[-1] = Number(terms[-1].value + term.value)
        elif not (isinstance(term, Number) and term.value == 0):
            terms.append(term)
    if len(terms) == 1:
        return terms[0]
    return Sum(tuple(terms)) if terms else Number(0)


def times(sizes: Iterable[Size]) -> Expression:
    """Multiply without expanding: constants gather in front, ones vanish, a zero wins.

    >>> str(times((2, Symbol("H"), 3)))
    '6*H'
    """
    constant = 1
    factors: list[Expression] = []
    for size in sizes:
        factor = as_expression(size)
        for part in factor.factors if isinstance(factor, Product) else (factor,):
            if isinstance(part, Number):
                constant *= part.value
            else:
                factors.append(part)
    if constant == 0 or not factors:
        return Number(constant)
    if constant != 1:
        factors.insert(0, Number(constant))
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def evaluate(expression: Size, values: Mapping[str, Size]) -> Size:
    """Put numbers (or columns, or other expressions) in place of the symbols.

    Raises:
        ConfigError: A symbol has no value, or an exact quotient leaves a remainder.

    >>> evaluate(Symbol("H") * Symbol("H") + 1, {"H": 768})
    589825
    """
    match expression:
        case Symbol():
            if expression.letter not in values:
                raise ConfigError(f"no value for the symbol {expression.letter}", key=expression.key)
            return values[expression.letter]
        case Number():
            return expression.value
        case Sum():
            result: Size = 0
            for term in expression.terms:
                result = result + evaluate(term, values)
            return result
        case Product():
            return product(evaluate(factor, values) for factor in expression.factors)
        case Quotient():
            return exact(evaluate(expression.numerator, values), evaluate(expression.denominator, values))
        case Floor():
            return evaluate(expression.numerator, values) // evaluate(expression.denominator, values)
        case _:
            return expression


def letters(expression: Size) -> set[str]:
    """Return the letters of all symbols in an expression, inside quotients too.

    >>> sorted(letters(Symbol("H") // Symbol("R") + 1))
    ['H', 'R']
    """
    match expression:
        case Symbol():
            return {expression.letter}
        case Sum():
            return set().union(*map(letters, expression.terms))
        case Product():
            return set().union(*map(letters, expression.factors))
        case Quotient() | Floor():
            return letters(expression.numerator) | letters(expression.denominator)
        case _:
            return set()
