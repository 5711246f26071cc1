"""The polynomial ring that settles equality: the expanded canonical form of an expression.

Two expressions mean the same if their polynomials are equal. Exponents may be negative (``H * A^-1`` is
the exact quotient), coefficients are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from weighbridge.core._namedtuple import TYPE_CHECKING, final
from weighbridge.core.formula import Expression, Floor, Number, Product, Quotient, Sum, Symbol, as_expression, letters, times, total
from weighbridge.core.sizes import Size

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import TypeAlias

Coefficient: TypeAlias = "int | Fraction"
Atom: TypeAlias = "Symbol | Opaque"
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]


@final
class Opaque:
    """A quotient that the ring cannot open, as an atom: equal to another whose two sides are equal polynomials."""

    __slots__ = ("letter", "quotient")

    order = 1_000_000
    """Sorts after all symbols."""

    def __init__(self, quotient: Floor) -> None:
        self.quotient = quotient
        self.letter = f"floor(({polynomial(quotient.numerator)})/({polynomial(quotient.denominator)}))"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.letter == self.letter

    def __hash__(self) -> int:
        return hash(self.letter)


@final
class Polynomial:
    """A canonical sum of monomials with exact coefficients; equal polynomials are equal formulas.

    >>> H = Symbol("H")
    >>> polynomial(4 * (H * H + H)) == polynomial(H * 4 + 4 * H * H)
    True
    """

    __slots__ = ("_hash", "_text", "terms")

    def __init__(self, terms: Mapping[Monomial, Coefficient]) -> None:
        self.terms = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient != 0}
        self._hash: int | None = None
        self._text: str | None = None

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Coefficient] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = _multiply_powers(left, right, 1)
                terms[monomial] = terms.get(monomial, 0) + a * b
        return Polynomial(terms)

    def over(self, other: Polynomial) -> Polynomial | None:
        """Divide by *other* exactly, or return None if the quotient is no polynomial."""
        if not other.terms:
            return None
        lead = max(other.terms, key=_rank)
        rest, quotient = self, Polynomial({})
        for _ in range(len(self.terms) * len(other.terms) + 1):
            if not rest.terms:
                return quotient
            head = max(rest.terms, key=_rank)
            coefficient = _exact_coefficient(rest.terms[head], other.terms[lead])
            step = Polynomial({_multiply_powers(head, lead, -1): coefficient})
            quotient, rest = quotient + step, rest - step * other
        return None

    def sorted_terms(self) -> list[tuple[Monomial, Coefficient]]:
        """Terms with the highest degree first, then in the order of the symbols."""
        return sorted(self.terms.items(), key=lambda item: _rank(item[0]), reverse=True)

    def expression(self) -> Expression:
        """Return the expanded expression, terms of the highest degree first."""
        return total(_term(monomial, coefficient) for monomial, coefficient in self.sorted_terms())

    def symbols(self) -> set[Atom]:
        """Return the symbols (and opaque quotients) that occur."""
        return {atom for monomial in self.terms for atom, _ in monomial}

    def letters(self) -> set[str]:
        """Return the letters of all symbols that occur, inside opaque quotients too."""
        return letters(self.expression())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __str__(self) -> str:
        if self._text is None:
            self._text = str(self.expression())
        return self._text

    def __repr__(self) -> str:
        return f"<Polynomial {self}>"


ONE = Polynomial({(): 1})
"""The polynomial that is the number one."""


def polynomial(size: Size) -> Polynomial:
    """Expand an expression into its canonical polynomial.

    A quotient whose denominator is one term is exact in the ring; any other is tried by
    division and, failing that, kept as an opaque atom.

    >>> H = Symbol("H")
    >>> str(polynomial((H + 1) * (H - 1)))
    'H^2 - 1'
    """
    match as_expression(size):
        case Number() as number:
            return Polynomial({(): number.value})
        case Symbol() as symbol:
            return Polynomial({((symbol, 1),): 1})
        case Sum() as node:
            return _fold((polynomial(term) for term in node.terms), Polynomial.__add__, Polynomial({}))
        case Product() as node:
            return _fold((polynomial(factor) for factor in node.factors), Polynomial.__mul__, Polynomial({(): 1}))
        case Quotient() as node:
            quotient = _quotient(polynomial(node.numerator), polynomial(node.denominator))
            return quotient if quotient is not None else Polynomial({((Opaque(Floor(node.numerator, node.denominator)), 1),): 1})
        case Floor() as node:
            whole = polynomial(node.numerator).over(polynomial(node.denominator))
            if whole is not None and all(_is_whole(monomial, c) for monomial, c in whole.terms.items()):
                return whole
            return Polynomial({((Opaque(node), 1),): 1})
        case other:
            raise TypeError(f"{other!r} is no formula")


def _fold(items: Iterable[Polynomial], join: Callable[[Polynomial, Polynomial], Polynomial], start: Polynomial) -> Polynomial:
    for item in items:
        start = join(start, item)
    return start


def _quotient(numerator: Polynomial, denominator: Polynomial) -> Polynomial | None:
    if len(denominator.terms) != 1:
        return numerator.over(denominator)
    ((monomial, coefficient),) = denominator.terms.items()
    return Polynomial({_multiply_powers(m, monomial, -1): _exact_coefficient(c, coefficient) for m, c in numerator.terms.items()})


def _is_whole(monomial: Monomial, coefficient: Coefficient) -> bool:
    return coefficient == int(coefficient) and all(power > 0 for _, power in monomial)


def _exact_coefficient(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    from fractions import Fraction

    quotient = Fraction(a) / b
    return int(quotient) if quotient.denominator == 1 else quotient


def _multiply_powers(left: Monomial, right: Monomial, sign: int) -> Monomial:
    powers: dict[Atom, int] = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + sign * power
    return tuple(sorted(((a, p) for a, p in powers.items() if p), key=lambda item: (item[0].order, item[0].letter)))


def _rank(monomial: Monomial) -> tuple[object, ...]:
    degree = sum(power for _, power in monomial)
    return (degree, len(monomial) > 0, [(-atom.order, _negative_codes(atom.letter), power) for atom, power in monomial])


def _negative_codes(letter: str) -> list[int]:
    return [-ord(character) for character in letter]


def _term(monomial: Monomial, coefficient: Coefficient) -> Expression:
    powers: list[Size] = [int(coefficient)] if coefficient == int(coefficient) else [coefficient.numerator]
    below: list[Size] = [] if coefficient == int(coefficient) else [coefficient.denominator]
    for atom, power in monomial:
        (powers if power > 0 else below).extend([atom.quotient if isinstance(atom, Opaque) else atom] * abs(power))
    return Quotient(times(powers), times(below)) if below else times(powers)
