"""Ints that remember the formula they came from: any account over ints then says how each of its numbers came about.

A :class:`TracedInt` is an int in every respect. What is added, subtracted, multiplied or divided out of it is another one, whose
formula is the sum, difference, product or quotient of the formulas. So a cost is worked out once, by the account that the
figure comes from, and its derivation cannot come to differ from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.core.formula import Expression, Symbol, as_expression
from weighbridge.core.tree import Attend, Part, State, Tensor
from weighbridge.explain.symbolic import symbolic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.accounts.inputs import Inputs
    from weighbridge.core.tree import Node
    from weighbridge.value import ModelValue


class TracedInt(int):
    """An int with the formula it came from.

    >>> hidden = TracedInt(768, Symbol("H"))
    >>> made = 4 * (hidden * hidden + hidden)
    >>> made == 2362368, str(made.formula)
    (True, '4*(H^2 + H)')
    """

    formula: Expression

    def __new__(cls, value: int, formula: Expression) -> TracedInt:
        made = super().__new__(cls, value)
        made.formula = formula
        return made

    def __add__(self, other: Any) -> Any:
        return _trace(int.__add__, self, other, lambda one, more: one + more)

    def __radd__(self, other: Any) -> Any:
        return _trace(int.__radd__, self, other, lambda one, more: more + one)

    def __sub__(self, other: Any) -> Any:
        return _trace(int.__sub__, self, other, lambda one, more: one - more)

    def __rsub__(self, other: Any) -> Any:
        return _trace(int.__rsub__, self, other, lambda one, more: more - one)

    def __mul__(self, other: Any) -> Any:
        return _trace(int.__mul__, self, other, lambda one, more: one * more)

    def __rmul__(self, other: Any) -> Any:
        return _trace(int.__rmul__, self, other, lambda one, more: more * one)

    def __floordiv__(self, other: Any) -> Any:
        return _trace(int.__floordiv__, self, other, lambda one, more: one // more)

    def __rfloordiv__(self, other: Any) -> Any:
        return _trace(int.__rfloordiv__, self, other, lambda one, more: more // one)

    def __neg__(self) -> TracedInt:
        return TracedInt(int.__neg__(self), -1 * self.formula)


def _trace(apply: Callable[[int, Any], Any], one: TracedInt, other: Any, combine: Callable[[Expression, Any], Expression]) -> Any:
    value = apply(one, other)
    if not isinstance(other, int) or value is NotImplemented:
        return value
    if value == int(one) and isinstance(other, TracedInt) is False and other in (0, 1):
        return one  # nothing was added, or it was multiplied with one
    return TracedInt(value, combine(one.formula, formula_of(other)))


def formula_of(value: int) -> Expression:
    """Return how an int came about; one that nothing is known of stands for itself.

    >>> str(formula_of(TracedInt(3, Symbol("L")))), str(formula_of(3))
    ('L', '3')
    """
    return value.formula if isinstance(value, TracedInt) else as_expression(int(value))


class LetteredModel(NamedTuple):
    """A model and what is put into it, with letters behind the numbers.

    Attributes:
        model, given: As they were, of traced ints.
        values: The number of each letter.
        table: The symbol of each letter of a size.
        lengths: The letters of what is put in: examples, tokens, and the decoder's where they are others.
    """

    model: ModelValue
    given: Inputs
    values: dict[str, int]
    table: dict[str, Symbol]
    lengths: tuple[str, ...]


def with_letters(model: ModelValue, given: Inputs) -> LetteredModel:
    """Put letters behind the sizes of a model and the lengths of what is put in.

    Raises:
        UsageError: The model was not made from a config.
    """
    tree, table, values = symbolic(model)
    batch = "b" if "B" in table else "B"
    seq, decoder = (letter if letter not in table else f"{letter}_text" for letter in ("n", "m"))
    changed: dict[str, Any] = {"batch": TracedInt(given.batch, Symbol(batch)), "seq": TracedInt(given.seq, Symbol(seq))}
    known = {**values, batch: given.batch, seq: given.seq}
    if given.decoder_seq is not None:
        changed["decoder_seq"] = TracedInt(given.decoder_seq, Symbol(decoder))
        known[decoder] = given.decoder_seq
    letters = (batch, seq, *((decoder,) if given.decoder_seq is not None else ()))
    return LetteredModel(model.replace(tree=_part(model.tree, tree)), given._replace(**changed), known, table, letters)


def _part(counted: Part, symbols: Part) -> Part:
    """Put the formulas of one tree behind the numbers of another; where their forms differ, the numbers stand alone."""
    if len(counted.children) != len(symbols.children):
        return counted
    children = tuple(_node(one, other) for one, other in zip(counted.children, symbols.children, strict=True))
    sizes = {
        name: _size(getattr(counted, name), getattr(symbols, name)) for name in ("repeat", "executions", "experts", "active", "stream")
    }
    return counted._replace(children=children, **sizes)


def _node(counted: Node, symbols: Node) -> Node:
    match counted, symbols:
        case Part(), Part():
            return _part(counted, symbols)
        case Tensor(), Tensor():
            return counted._replace(shape=_sizes(counted.shape, symbols.shape))
        case (Attend(), Attend()) | (State(), State()):
            return counted._replace(**{name: _size(one, getattr(symbols, name)) for name, one in counted._asdict().items()})
        case _:
            return counted


def _sizes(counted: Sequence[Any], symbols: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_size(one, other) for one, other in zip(counted, symbols, strict=True)) if len(counted) == len(symbols) else tuple(counted)


def _size(one: Any, other: Any) -> Any:
    return TracedInt(one, other) if type(one) is int and isinstance(other, Expression) else one
