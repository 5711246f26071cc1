"""A model's tensors by the component they belong to, as a text speaks of components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from weighbridge.auditing.text.polynomial_terms import with_our_symbols
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.polynomials import ONE, Polynomial, polynomial
from weighbridge.core.sizes import Size, product
from weighbridge.explain.semantic_tree import HEADS, Leaf

_QUERY = frozenset("query q_proj q q_lin wq query_proj linear_q".split())
_KEY = frozenset("key k_proj k k_lin wk key_proj linear_k".split())
_VALUE = frozenset("value v_proj v v_lin wv value_proj linear_v".split())
_DOWN = frozenset("output down_proj fc2 c_proj wo lin2 dense_4h_to_h fc_out w2".split())
_TYPES = ("token_type", "segment", "type_embed")
_POSITIONS = ("position", "wpe", "embed_positions")


class Cell(NamedTuple):
    """One tensor of a component: in one layer, and how often there are such layers; its formulas are made when one is asked for."""

    place: str
    bias: bool
    number: int
    shape: tuple[Size, ...]
    copies: int
    repeats: tuple[Size, ...]
    layered: bool

    @property
    def formula(self) -> Polynomial:
        """What it holds in one layer, in letters."""
        return _formula(product(self.shape))

    @property
    def all_copies(self) -> Polynomial:
        """In how many layers it stands, in letters."""
        return _formula(product(self.repeats)) if self.repeats else ONE


def list_cells(found: Iterable[Leaf]) -> Iterator[Cell]:
    """Yield a model's tensors by component."""
    for leaf in found:
        topic, in_layer = leaf.topic, leaf.in_layer
        place = _place(leaf, topic)
        around = (*leaf.around, leaf.pair) if leaf.is_repeated else ()
        repeats = tuple(p.symbolic.repeat for p in around if p.symbolic.repeat is not None)
        many = int(leaf.copies) if leaf.is_repeated else 1  # type: ignore[arg-type]
        for ours, theirs in leaf.pair.tensors():
            if ours.tied_to is None:
                bias = ours.role == "bias" or (ours.role == "shift" and topic != "norm")
                number = int(product(ours.shape))  # type: ignore[arg-type]
                yield Cell(place, bias, number, theirs.shape, many, repeats, in_layer)


def _formula(size: Size) -> Polynomial:
    return _number(size) if type(size) is int else with_our_symbols(polynomial(size))


@lru_cache(maxsize=1024)
def _number(size: int) -> Polynomial:
    """Return a file's size, which is a number, as a polynomial; few differ."""
    return with_our_symbols(polynomial(size))


def _place(leaf: Leaf, topic: str) -> str:
    name, kinds, path = leaf.path.rpartition(".")[2], (*leaf.kinds, leaf.pair.part.kind), leaf.path
    if topic == "head" or not HEADS.isdisjoint(kinds):
        return "head"
    if topic == "norm":
        return "layer_norm" if leaf.in_layer else "embedding_norm" if "embeddings" in kinds else "final_norm"
    if topic == "embedding":
        last = path.lower()
        return "type" if any(t in last for t in _TYPES) else "position" if any(p in last for p in _POSITIONS) else "word"
    if topic == "attention":
        return (
            "query"
            if name in _QUERY
            else "key"
            if name in _KEY
            else "value"
            if name in _VALUE
            else "out"
            if "dense" in name or "o" in name
            else "attention"
        )
    if topic == "feed_forward":
        parts = path.split(".")
        return "down" if name in _DOWN or (name == "dense" and "output" in parts) else "gate" if "gate" in name else "up"
    return topic


FEED = ("up", "gate", "down", "feed_forward")

ATTENTION = ("query", "key", "value", "out", "attention")
