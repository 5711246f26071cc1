"""What a closed formula tells beyond its value: collected forms, the leading term, what a change costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Expression, Number, Product, Symbol, evaluate, times, total
from weighbridge.core.polynomials import Monomial, Opaque, Polynomial, polynomial
from weighbridge.explain.closed_form import ClosedFormula

STEPS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("layers", (1,)),
    ("encoder_layers", (1,)),
    ("decoder_layers", (1,)),
    ("vocab", (1,)),
    ("hidden", tuple(range(64, 1025, 64))),
)
"""What is changed to see its cost: our word for the size, and the steps, of which the first that makes a model is taken."""


class Recount(NamedTuple):
    """What a config with other sizes really has.

    Attributes:
        more: Parameters that it has more.
        follows: The config keys of the sizes that changed with it, as the config leaves them out.
    """

    more: int
    follows: tuple[str, ...] = ()


Recounter = Callable[[Mapping[str, int], int], Recount | None]
"""From config keys and new values, and what the formula says, to what that config has; None where it makes no model."""


class Change(NamedTuple):
    """What it costs to make one size larger and leave all others.

    Attributes:
        symbol: The size.
        by: How much it grows.
        formula: The difference, if it is short enough to be read, else None.
        value: The difference.
        kept: The same where the sizes that are its multiples (I = 4H) grow with it, or None.
        follows: The config keys that the config leaves out and that grow with it.
    """

    symbol: Symbol
    by: int
    formula: Expression | None
    value: int
    kept: int | None
    follows: tuple[str, ...] = ()


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
    book: ClosedFormula,
    table: Mapping[str, Symbol],
    values: Mapping[str, int],
    factored: Expression | None = None,
    recount: Recounter | None = None,
) -> Insight | None:
    """Look closer at a closed formula; None where it has no terms.

    With *recount*, every change is counted from a config with that size: a formula does not know of which kind one more layer is,
    nor by how much a width must grow to divide by its heads.

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
    changes = tuple(change for word, steps in STEPS for change in _changes(word, steps, whole, table, values, relations, recount))
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
    steps: tuple[int, ...],
    whole: Polynomial,
    table: Mapping[str, Symbol],
    values: Mapping[str, int],
    relations: tuple[tuple[Symbol, Expression], ...],
    recount: Recounter | None,
) -> Iterator[Change]:
    for symbol in table.values():
        if symbol.word == word and symbol in whole.symbols():
            found = _step(symbol, steps, whole, table, values, recount)
            if found is not None:
                yield found._replace(kept=_with_relations(found, whole, values, relations, recount))


def _step(
    symbol: Symbol,
    steps: tuple[int, ...],
    whole: Polynomial,
    table: Mapping[str, Symbol],
    values: Mapping[str, int],
    recount: Recounter | None,
) -> Change | None:
    """Take the first step that costs what the formula says, else the first that makes a model, else none."""
    first: Change | None = None
    for by in steps:
        try:
            more = _value(whole.expression(), {**values, symbol.letter: values[symbol.letter] + by}) - _value(whole.expression(), values)
        except ConfigError:
            continue  # a width that must divide by the heads does not after this step
        counted = Recount(more) if recount is None else recount({symbol.key: values[symbol.letter] + by}, more)
        if counted == Recount(more):
            return Change(symbol, by, _difference(symbol, by, whole, table), more, None)
        if counted is not None and first is None:
            first = Change(symbol, by, None, counted.more, None, counted.follows)
        if counted is not None and counted.follows:
            break
    return first


def _difference(symbol: Symbol, by: int, whole: Polynomial, table: Mapping[str, Symbol]) -> Expression | None:
    """Write what one more costs, where that is short enough to be read."""
    if by != 1:
        return None
    grown: dict[str, Expression] = {**table, symbol.letter: symbol + by}
    difference = polynomial(evaluate(whole.expression(), grown)) - whole
    return difference.expression() if len(difference.terms) <= 6 else None


def _with_relations(
    change: Change,
    whole: Polynomial,
    values: Mapping[str, int],
    relations: tuple[tuple[Symbol, Expression], ...],
    recount: Recounter | None,
) -> int | None:
    symbol = change.symbol
    grown = {**values, symbol.letter: values[symbol.letter] + change.by}
    follows = {other: _value(multiple, grown) for other, multiple in relations if symbol in polynomial(multiple).symbols()}
    if not follows:
        return None
    more = _value(whole.expression(), {**grown, **{other.letter: value for other, value in follows.items()}})
    more -= _value(whole.expression(), values)
    if recount is not None:
        counted = recount({symbol.key: grown[symbol.letter], **{other.key: value for other, value in follows.items()}}, more)
        return more if counted == Recount(more) else None
    return more


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
