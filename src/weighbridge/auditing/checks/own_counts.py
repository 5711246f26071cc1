"""The counts of a model: its own, those of its family's other classes, and all that its conventions give."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from weighbridge.accounts.parameters import tally_of
from weighbridge.auditing.claims import Sentence
from weighbridge.auditing.thresholds import PLAIN_COST
from weighbridge.conventions.atoms import ROUTERS, parts_of
from weighbridge.conventions.counts import class_counts, counts
from weighbridge.conventions.rules import Conventions, conventions
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.accounts.parameters import Tally
    from weighbridge.value import ModelValue


@lru_cache(maxsize=2048)
def preset_model(name: str) -> ModelValue | None:
    """Return the model of a preset, or None if it cannot be weighed."""
    try:
        return load(name)
    except WeighbridgeError:
        return None


@lru_cache(maxsize=64)
def conventions_of(model: ModelValue) -> Conventions:
    """Return every way of counting a model that ``reconcile`` knows."""
    return conventions(model)


@lru_cache(maxsize=2048)
def plain_conventions_of(model: ModelValue) -> Conventions:
    """Return the ways of counting that a rounded figure is held against: the simple ones, which are found in a fraction of the time."""
    return conventions(model, PLAIN_COST)


@lru_cache(maxsize=2048)
def _tally(model: ModelValue) -> Tally:
    return tally_of(model)


@lru_cache(maxsize=4096)
def own_count(model: ModelValue, what: str = "total") -> int | None:
    """Return the plain count of a model: all its parameters, or those that work on one token.

    >>> own_count(preset_model("mixtral-8x7b"), "active")
    12879925248
    """
    tally = _tally(model)
    counted = {"total": tally.unique, "active": tally.active, "embedding": tally.embedding, "non_embedding": tally.non_embedding}[what]
    return counted if isinstance(counted, int) else None


_MOST_LEFT_OUT = 14
"""Kinds of parameters that a hand count may leave out, so many at most: each doubles what is tried."""


@lru_cache(maxsize=64)
def _hand_counts(model: ModelValue) -> frozenset[int]:
    """Return what a model comes to without any of what hand counts leave out: positions, biases, norms, the pooler, or with its head's own table."""
    small: dict[str, int] = {}
    parts = parts_of(model)
    for atom in parts.atoms:
        if atom.component in ("position", "type", "pooler") or atom.of_norm or atom.role == "bias":
            own = atom.component if atom.component in ("position", "type", "pooler") else "norm" if atom.of_norm else ""
            kind = f"{own} {atom.role} {'inside' if atom.layer else 'outside'}"
            small[kind] = small.get(kind, 0) + atom.total
    tied = sum(atom.total for atom in parts.tied)
    total = own_count(model) or 0
    if len(small) > _MOST_LEFT_OUT:
        return frozenset((total,))
    sums = {total, total + tied}
    for less in small.values():
        sums |= {one - less for one in sums}
    return frozenset(sums)


def is_hand_count(model: ModelValue, number: int) -> bool:
    """Tell whether a number is a model's count less some of what hand counts leave out, however many: a slip of the pen makes no such number.

    >>> model = preset_model("gpt3-175b")
    >>> is_hand_count(model, 175_186_010_112), is_hand_count(model, 175_186_010_113)
    (True, False)
    """
    return number in _hand_counts(model)


def is_whole(model: ModelValue, number: int) -> bool:
    """Tell whether a number is a count of the whole model in some convention, and not of a part of it.

    >>> model = preset_model("bert-base-uncased")
    >>> is_whole(model, 108_808_704), is_whole(model, 23_440_896)
    (True, False)
    """
    return any(not made.view.scope for made in conventions_of(model).by_value.get(number, ()))


@lru_cache(maxsize=2048)
def list_named_counts(model: ModelValue, what: str) -> tuple[tuple[str | Sentence, int], ...]:
    """Return a model's count and those of its family's other classes, each with what it is called."""
    own = own_count(model, what)
    name = model.class_name or model.kind
    if own is None:
        return ()
    if what == "active":
        return ((_name_of_count(name, mark("active on a token")), own), *_active_without_tables(model, own))
    if what == "embedding":
        return ((_name_of_count(name, mark("embeddings")), own),)
    if what == "non_embedding":
        return ((_name_of_count(name, mark("without embeddings")), own), *_without_tables(model))
    return ((name, own), *((other, value) for other, value in class_counts(model).items() if value not in (own, 0)))


def _name_of_count(model: str, *parts: str) -> Sentence:
    """Return what a count of a model is called that is not the count of all of it, to be said in any language."""
    return Sentence(mark("{model}, {parts}"), (("model", model), ("parts", tuple(Sentence(part) for part in parts))))


def _active_without_tables(model: ModelValue, active: int) -> Iterator[tuple[Sentence, int]]:
    """A table is only looked up in: some leave it out of what works on a token, and some the head of its size as well."""
    plain = own_count(model, "non_embedding")
    table = (own_count(model) or 0) - plain if plain is not None else 0
    routers = sum(atom.total for atom in parts_of(model).atoms if atom.path.rpartition(".")[2] in ROUTERS)
    if 0 < routers < active:
        yield _name_of_count(model.class_name or model.kind, mark("active on a token"), mark("without routers")), active - routers
    for name, less in ((mark("without embeddings"), table), (mark("without embeddings and head"), 0 if tied_tables(model) else 2 * table)):
        if 0 < less < active:
            yield _name_of_count(model.class_name or model.kind, mark("active on a token"), name), active - less


def _without_tables(model: ModelValue) -> Iterator[tuple[Sentence, int]]:
    for row in counts(model):
        if row.key in ("embeddings", "word-embeddings", "position-embeddings", "layers", "scaling-law") and row.value:
            yield _name_of_count(row.class_name, row.name), row.value


@lru_cache(maxsize=2048)
def tied_tables(model: ModelValue) -> tuple[int, ...]:
    """Return what each tied table of a model holds, the small ones left out."""
    taken = parts_of(model)
    return tuple(sorted({atom.total for atom in taken.tied if atom.total > taken.unique // 1000}))
