"""Symbols for sizes: unexpanded expressions that tell the story, and how they are written.

An :class:`Expression` is what a blueprint builds when its sizes are symbols. It stays as it was
written, because a derivation wants ``4 * (H^2 + H)`` and not its expansion; ``polynomials.py`` expands
it, and settles whether two mean the same. :func:`write` is one walk over an expression for every notation,
so that they cannot come to differ in what they say; ``notation.py`` has those other than plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple, final
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Quantity, Size, UndecidedError, exact, product

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import TypeAlias

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
        return Floor(self, as_expression(other)) if other != 1 else self

    def __rfloordiv__(self, other: Size) -> Expression:
        return Floor(as_expression(other), self)

    def divide_exactly(self, other: Size) -> Expression:
        return self if type(other) is int and other == 1 else Quotient(self, as_expression(other))

    def rdivide_exactly(self, other: Size) -> Expression:
        return Quotient(as_expression(other), self)

    def __bool__(self) -> bool:
        raise UndecidedError("a symbol is neither true nor false; branch on switches, not on sizes")

    def __str__(self) -> str:
        return write(self)

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
    """A quotient rounded down, as rounding up needs it."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Expression, denominator: Expression) -> None:
        self.numerator = numerator
        self.denominator = denominator


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
            if terms[-1].value == 0:
                terms.pop()
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
                raise ConfigError(Text("no value for the symbol {letter}", letter=expression.letter), key=expression.key)
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


SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Notation(NamedTuple):
    """The strings of one notation. ``{}`` stands for what is written inside."""

    name: str
    plus: str = " + "
    minus: str = " - "
    negative: str = "-{}"
    multiply: str = "*"
    group: str = "({})"
    power: str = "{}^{}"
    quotient: str = "{}/{}"
    floor: str = "({} // {})"
    number: str = "{}"
    symbol: str = "{}"
    row: str = "{}"
    separator: str = ""
    stacked_quotient: bool = False
    indexed: str = ""


TEXT = Notation("text")


def write(expression: Expression, notation: Notation = TEXT, values: Mapping[str, int] | None = None) -> str:
    """Write *expression* in *notation*; with *values*, numbers stand where the letters stood.

    >>> H = Symbol("H")
    >>> write(4 * (H * H + H)), write(4 * (H * H + H), TEXT, {"H": 768})
    ('4*(H^2 + H)', '4*(768^2 + 768)')
    """
    match expression:
        case Number():
            return _number(expression.value, notation)
        case Symbol():
            if values is not None and expression.letter in values:
                return _number(values[expression.letter], notation)
            return _letter(expression.letter, notation)
        case Sum():
            return "".join(_with_sign(term, index, notation, values) for index, term in enumerate(expression.terms))
        case Product():
            return _product(expression, notation, values)
        case Quotient() | Floor():
            above, below = write(expression.numerator, notation, values), write(expression.denominator, notation, values)
            if not notation.stacked_quotient:
                above = _in_brackets(above, expression.numerator, (Sum,), notation)
                below = _in_brackets(below, expression.denominator, (Sum, Product, Quotient), notation)
            return (notation.floor if isinstance(expression, Floor) else notation.quotient).format(above, below)
        case _:
            raise TypeError(f"{type(expression).__name__} is no formula")


def _letter(letter: str, notation: Notation) -> str:
    head, _, index = letter.partition("_")
    if not index or not notation.indexed:
        return notation.symbol.format(letter)
    return notation.indexed.format(notation.symbol.format(head), index)


def _power(inner: str, exponent: str, notation: Notation) -> str:
    if notation.name == "mathml" and inner.startswith("<msub>"):
        # An index and an exponent of one letter stand one above the other.
        return inner.replace("msub>", "msubsup>").replace("</mtext>", f"</mtext><mn>{exponent}</mn>")
    return notation.power.format(inner, exponent)


def _number(value: int, notation: Notation) -> str:
    digits = f"{value:,}".replace(",", notation.separator)
    return notation.number.format(digits) if value >= 0 else notation.group.format(notation.number.format(digits))


def _with_sign(term: Expression, index: int, notation: Notation, values: Mapping[str, int] | None) -> str:
    above = term.numerator if isinstance(term, Quotient) else term
    first = above.factors[0] if isinstance(above, Product) else above
    constant = first.value if isinstance(first, Number) else None
    if constant is None or constant >= 0:
        return (notation.plus if index else "") + write(term, notation, values)
    positive = Quotient(-1 * term.numerator, term.denominator) if isinstance(term, Quotient) else -1 * term
    flipped = _in_brackets(write(positive, notation, values), positive, (Sum,), notation)
    return notation.minus + flipped if index else notation.negative.format(flipped)


def _product(expression: Product, notation: Notation, values: Mapping[str, int] | None) -> str:
    pieces = []
    for factor, run in groupby(expression.factors, key=lambda f: f):
        power = sum(1 for _ in run)
        inner = write(factor, notation, values)
        if isinstance(factor, Sum) or (isinstance(factor, Quotient) and (power > 1 or not notation.stacked_quotient)):
            inner = notation.group.format(inner)
        if power > 1:
            exponent = str(power).translate(SUPERSCRIPTS) if notation.name == "unicode" else str(power)
            inner = _power(inner, exponent, notation)
        pieces.append(inner)
    return notation.multiply.join(pieces)


def _in_brackets(text: str, expression: Expression, kinds: tuple[type[Expression], ...], notation: Notation) -> str:
    return notation.group.format(text) if isinstance(expression, kinds) else text
