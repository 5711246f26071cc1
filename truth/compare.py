"""Ours against theirs: names, shapes, order, ties, what is frozen, counts, formulas and FLOPs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from truth.by_module import first_difference, ours_by_module, with_lists
from truth.forward import Pass
from truth.listing import Line, Listing, of_rows
from weighbridge.accounts.accepted_inputs import as_examples
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.flops import matmuls
from weighbridge.accounts.ledger import ledger
from weighbridge.accounts.parameters import PARAMETERS, tally
from weighbridge.api.model import Model
from weighbridge.config.bind import LARGEST, bind
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import UsageError, WeighbridgeError
from weighbridge.core.formula import Expression, Symbol, evaluate
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part
from weighbridge.explain.closed_form import closed_formula


class Difference(NamedTuple):
    """The first thing in which two sides differ.

    Attributes:
        what: ``missing``, ``extra``, ``order``, ``shape``, ``tie``, ``frozen``, ``count``, ``formula``,
            ``flops``, ``cache``, ``refused`` ...
        where: A tensor's name, or what was counted.
        ours, theirs: Both sides.
    """

    what: str
    where: str
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.what}: {self.where}: ours {_side_text(self.ours)}, theirs {_side_text(self.theirs)}"


def difference(ours: Listing, theirs: Listing) -> Difference | None:
    """Return the first difference of two listings, or None: parameters in order, buffers as a set."""
    found = _lines(ours.parameters, theirs.parameters) or _lines(sorted_lines(ours.buffers), sorted_lines(theirs.buffers))
    if found:
        return found
    if ours.unique != theirs.unique:
        return Difference("count", "unique parameters", ours.unique, theirs.unique)
    return None


def sorted_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return lines by name."""
    return tuple(sorted(lines))


def _lines(ours: tuple[Line, ...], theirs: tuple[Line, ...]) -> Difference | None:
    our_names, their_names = {line.name: line for line in ours}, {line.name: line for line in theirs}
    if len(our_names) != len(ours):
        double = next(line.name for index, line in enumerate(ours) if line.name in {l.name for l in ours[:index]})
        return Difference("double", double, "twice", "once")
    for line in theirs:
        if line.name not in our_names:
            return Difference("missing", line.name, None, line)
    for line in ours:
        if line.name not in their_names:
            return Difference("extra", line.name, line, None)
    for mine, other in zip(ours, theirs, strict=True):
        if mine.name != other.name:
            return Difference("order", other.name, mine.name, other.name)
    for mine, other in zip(ours, theirs, strict=True):
        for what, left, right in zip(("name", "shape", "tie", "frozen"), mine, other, strict=True):
            if left != right:
                return Difference(what, mine.name, left, right)
    return None


def tensors(model: Model, theirs: Listing) -> Difference | None:
    """Hold a model of ours to a live listing, and its own accounts to each other."""
    found = listed(model, theirs)
    if found:
        return found
    tree, _, values = model.symbolic()
    return formula(model, theirs.unique, tree, values)


def listed(model: Model, theirs: Listing) -> Difference | None:
    """Hold a model of ours to a live listing: every tensor, and what the tree counts."""
    ours = of_rows(model.tensors())
    found = difference(ours, theirs)
    if found:
        return found
    counts = model.count()
    if counts.unique != theirs.unique:
        return Difference("count", "unique parameters by the tree", counts.unique, theirs.unique)
    if counts.buffers != theirs.buffered:
        return Difference("count", "buffer elements by the tree", counts.buffers, theirs.buffered)
    return None


def formula(model: Model, unique: Size, tree: Part, values: Mapping[str, int]) -> Difference | None:
    """Hold the three ways to each other: the closed formula and columns to the count of ints; *tree* is the model's in symbols."""
    value = evaluate(ledger_formula(tree), values)
    if value != unique:
        return Difference("formula", "closed formula, evaluated", value, unique)
    try:
        found = columns(model, values)
    except ImportError:  # columns need NumPy
        return None
    return None if found == [unique, unique] else Difference("columns", "counts of two equal rows", found, unique)


def ledger_formula(tree: Part) -> Expression:
    """Return the closed formula of the unique parameters of a tree of symbols."""
    return closed_formula(ledger(tree, PARAMETERS)).expression()


def columns(model: Model, values: Mapping[str, int]) -> list[int]:
    """Count two equal rows of the model's config as columns; *values* are its sizes by their letters."""
    from weighbridge.columns import Column, column

    assert model.description is not None
    known, raw, sizes = model.description
    lettered = _as_columns(symbols(known.fields, raw, sizes), values, column)
    counts = tally(known.classes[model.class_name](bind(known.fields, {**raw, **lettered}, like=sizes))).unique
    return [int(value) for value in counts.values] if isinstance(counts, Column) else [counts, counts]  # type: ignore[list-item]


def _as_columns(raw: Mapping[str, Any], values: Mapping[str, int], column: Callable[..., Any]) -> dict[str, Any]:
    """Put a column of two equal rows in place of each symbol."""
    made = {}
    for key, value in raw.items():
        if isinstance(value, Mapping):
            made[key] = _as_columns(value, values, column)
        else:
            made[key] = column([values[value.letter]] * 2, key, -LARGEST) if isinstance(value, Symbol) else value
    return made


def flops(model: Model, lengths: Pass, expected: int, by_module: Mapping[str, int] | None = None) -> Difference | None:
    """Hold our forward arithmetic to what was counted live.

    Args:
        by_module: What was counted of each module, so that a difference names the first in which it is.

    Raises:
        UsageError: We do not tell it, and say why: no difference, but nothing that was compared either.
    """
    try:
        # A pass names lengths for every class, and tiny tables of positions: what a user is refused, the live class was asked.
        given = as_examples(model, lengths)
        counted = matmuls(model.tree, given.lengths(), given.batch)
    except UsageError:
        raise
    except WeighbridgeError as error:
        return Difference("flops", str(lengths), str(error), expected)
    if counted.amount == expected:
        return None
    where = f"{lengths}"
    if by_module:
        ours, theirs = ours_by_module(counted), with_lists(by_module)
        name = first_difference(ours, theirs)
        where += f", first in {name or 'the model itself'} ({ours.get(name, 0)} and {theirs.get(name, 0)})"
    return Difference("flops", where, counted.amount, expected)


def cache(model: Model, lengths: Pass, kept: int) -> Difference | None:
    """Hold our account of the cache to the bytes that a forward of the live class left in its own.

    Raises:
        UsageError: We do not tell it, and say why.
    """
    found = cache_of(model, as_examples(model, lengths), dtype="float32").bytes
    if found == kept:
        return None
    forgotten = "" if found else "; attention that looks back alone has causal=True"
    return Difference("cache", f"bytes kept of {lengths}{forgotten}", found, kept)


def shrink(raw: Mapping[str, Any], fails: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the smallest part of a failing config that still fails: keys are taken away while it does.

    >>> shrink({"a": 1, "b": 2, "model_type": "x"}, lambda raw: raw.get("b") == 2)
    {'b': 2, 'model_type': 'x'}
    """
    smallest = dict(raw)
    shrunk = True
    while shrunk:
        shrunk = False
        for path in list(_paths(smallest)):
            trial = _without(smallest, path)
            if fails(trial):
                smallest, shrunk = trial, True
                break
    return smallest


def _paths(raw: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for key, value in raw.items():
        if key == "model_type" and not prefix:
            continue
        found.append((*prefix, key))
        if isinstance(value, Mapping) and key.endswith("config"):
            found.extend(_paths(value, (*prefix, key)))
    return found


def _without(raw: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    head, *rest = path
    if not rest:
        return {key: value for key, value in raw.items() if key != head}
    return {**raw, head: _without(raw[head], tuple(rest))}


def _side_text(side: object) -> str:
    if side is None:
        return "nothing"
    if isinstance(side, Line):
        tie = f" tied to {side.tied_to}" if side.tied_to else ""
        return f"{list(side.shape)}{tie}"
    return f"{side:,}" if isinstance(side, int) and not isinstance(side, bool) else str(side)
