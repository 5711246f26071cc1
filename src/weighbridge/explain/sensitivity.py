"""What a closed formula tells beyond its value: collected forms, the leading term, what a change costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Expression, Number, Product, Symbol, evaluate, times, total
from weighbridge.core.polynomials import Monomial, Opaque, Polynomial, polynomial
from weighbridge.explain.closed import ClosedFormula

STEPS = (("layers", 1), ("encoder_layers", 1), ("decoder_layers", 1), ("vocab", 1), ("hidden", 64))
"""What is changed to see its cost: our word for the size, and by how much."""


class Change(NamedTuple):
    """What it costs to make one size larger and leave all others.

    Attributes:
        symbol: The size.
        by: How much it grows.
        formula: The difference, if it is short enough to be read, else None.
        value: The difference.
        kept: The same where the sizes that are its multiples (I = 4H) grow with it, or None.
    """

    symbol: Symbol
    by: int
    formula: Expression | None
    value: int
    kept: int | None


class Insight(NamedTuple):
    """What a closed formula tells.

    Attributes:
        factored: The closed formula as its modules are written, copies in front.
        relations: Relations that hold for these values, such as I = 4 × H, as pairs.
        collected: The formula with those relations put in, fully collected.
        leading: The largest term: of *collected*, or, where that has something to take away, of the formula with its layers factored out.
        leading_value: Its value.
        changes: What a change of one size costs.
    """

    factored: Expression
    relations: tuple[tuple[Symbol, Expression], ...]
    collected: Expression
    leading: Expression
    leading_value: int
    changes: tuple[Change, ...]


def insight(
    book: ClosedFormula, table: Mapping[str, Symbol], values: Mapping[str, int], factored: Expression | None = None
) -> Insight | None:
    """Look closer at a closed formula; None where it has no terms.

    >>> from weighbridge import model
    >>> found = model("bert-base-uncased").explain().insight
    >>> str(found.collected), str(found.leading)
    ('12*L*H^2 + V*H + S*H + T*H + H^2 + 13*L*H + 3*H', '12*L*H^2')
    """
    whole = book.polynomial()
    used = {atom.letter for atom in whole.symbols()}
    relations = _relations({letter: symbol for letter, symbol in table.items() if letter in used}, values)
    known: dict[str, Expression] = dict(table)
    known |= {symbol.letter: multiple for symbol, multiple in relations}
    collected = polynomial(evaluate(book.expression(), known)) if relations else whole
    if not collected.terms:
        return None
    written = [_term(monomial, coefficient) for monomial, coefficient in collected.sorted_terms()]
    falling = any(coefficient < 0 for coefficient in collected.terms.values())
    leading = max(_terms(book, known, ()) if falling else written, key=lambda term: _value(term, values))
    changes = tuple(change for word, by in STEPS for change in _changes(word, by, whole, table, values, relations))
    return Insight(
        book.expression() if factored is None else factored, relations, total(written), leading, _value(leading, values), changes
    )


def _terms(book: ClosedFormula, known: Mapping[str, Expression], copies: tuple[Expression, ...]) -> Iterator[Expression]:
    """Yield the terms of a formula, each with its copies in front: ``(L - 3)`` is not multiplied out, so nothing is taken away."""
    for monomial, coefficient in polynomial(evaluate(book.constant.expression(), known)).sorted_terms():
        yield times((*copies, _term(monomial, coefficient)))
    for count, inner in book.repeats:
        yield from _terms(inner, known, (*copies, count))


def _relations(table: Mapping[str, Symbol], values: Mapping[str, int]) -> tuple[tuple[Symbol, Expression], ...]:
    """Find sizes of feed-forward networks that are whole multiples of their hidden size."""

    def belongs(symbol: Symbol, other: Symbol) -> bool:
        same = symbol.letter.partition("_")[2] == other.letter.partition("_")[2]
        return symbol.word == "mlp" and other.word == "hidden" and same and values[symbol.letter] % values[other.letter] == 0

    pairs = ((symbol, other) for symbol in table.values() for other in table.values() if belongs(symbol, other))
    return tuple((symbol, values[symbol.letter] // values[other.letter] * other) for symbol, other in pairs)


def _changes(
    word: str,
    by: int,
    whole: Polynomial,
    table: Mapping[str, Symbol],
    values: Mapping[str, int],
    relations: tuple[tuple[Symbol, Expression], ...],
) -> list[Change]:
    found = []
    for symbol in table.values():
        if symbol.word != word or symbol not in whole.symbols():
            continue
        grown = {**values, symbol.letter: values[symbol.letter] + by}
        try:
            before, after = _value(whole.expression(), values), _value(whole.expression(), grown)
        except ConfigError:
            continue  # a width that must divide by the heads does not after this step
        more: dict[str, Expression] = {**table, symbol.letter: symbol + by}
        difference = polynomial(evaluate(whole.expression(), more)) - whole
        formula = difference.expression() if len(difference.terms) <= 6 and by == 1 else None
        found.append(Change(symbol, by, formula, after - before, _with_relations(symbol, whole, values, grown, relations)))
    return found


def _with_relations(
    symbol: Symbol, whole: Polynomial, values: Mapping[str, int], grown: dict[str, int], relations: tuple[tuple[Symbol, Expression], ...]
) -> int | None:
    follows = {other.letter: _value(multiple, grown) for other, multiple in relations if symbol in polynomial(multiple).symbols()}
    if not follows:
        return None
    return _value(whole.expression(), {**grown, **follows}) - _value(whole.expression(), values)


def _value(expression: Expression, values: Mapping[str, int]) -> int:
    found = evaluate(expression, values)
    assert isinstance(found, int)
    return found


def _term(monomial: Monomial, coefficient: object) -> Expression:
    """Write a term with what counts copies in front, ``12*L*H^2``."""
    if any(power < 0 for _, power in monomial) or not isinstance(coefficient, int):
        return Polynomial({monomial: coefficient}).expression()  # type: ignore[dict-item]
    atoms: list[Expression] = []
    for atom, power in sorted(monomial, key=lambda item: getattr(item[0], "word", "") not in ("layers", "decoder_layers")):
        atoms += [atom.quotient if isinstance(atom, Opaque) else atom] * power
    if not atoms:
        return Number(coefficient)
    front = () if coefficient == 1 else (Number(coefficient),)
    return Product((*front, *atoms)) if len(atoms) + len(front) > 1 else atoms[0]
