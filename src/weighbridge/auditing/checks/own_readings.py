"""Every count that the parts of a transformer of given sizes may have: with biases or without, gated or not, tied or not, whatever its norms are.

A description in a text says how wide and how deep a model is, and seldom which maps have biases. A count of it is wrong only if
none of these readings gives it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product

from weighbridge.core._namedtuple import NamedTuple


class OwnSizes(NamedTuple):
    """The sizes of a model that a text describes; 0 is one that it does not say.

    Attributes:
        hidden, layers, heads, kv_heads, head_dim, mlp, vocab, positions: The sizes.
        crossed: Whether it may have a decoder that attends to an encoder.
    """

    hidden: int
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    mlp: int = 0
    vocab: int = 0
    positions: int = 0
    crossed: bool = False


_NORMS = (0, 1, 2, 3, 4, 6, 8)
"""Widths that the norms of a layer hold: two of one or two vectors, one more behind a second attention, one on each side."""


@lru_cache(maxsize=64)
def readings(sizes: OwnSizes) -> Mapping[str, Sequence[int]]:
    """Return what each part of a model may hold, in order; a part whose sizes are not said is not there.

    >>> own = readings(OwnSizes(768, layers=12, heads=12, mlp=3072))
    >>> 2_362_368 in own["attention"], 4_722_432 in own["ffn"], 7_087_872 in own["layer"], 85_054_464 in own["stack"]
    (True, True, True, True)
    >>> "word" in own
    False
    """
    hidden, tables = sizes.hidden, _tables(sizes)
    attention = _attention(sizes)
    found: dict[str, Iterable[int]] = {"norm": {hidden * times for times in (1, 2, 3, 4, 6)}, **tables}
    found["attention"] = {one + norm * hidden for one in attention for norm in (0, 1, 2)} | {2 * one for one in attention}
    found["qkv"], found["map"] = _maps(sizes)
    if sizes.mlp:
        ffn = _feed_forward(sizes)
        found["ffn"] = {one + norm * hidden for one in ffn for norm in (0, 1, 2)}
        found["map"] = {*found["map"], *(hidden * sizes.mlp + bias for bias in (0, sizes.mlp, hidden)), 2 * hidden * sizes.mlp}
        layer = {a + f + norm * hidden for a, f, norm in product(attention, ffn, _NORMS)}
        crossed = {2 * a + f + norm * hidden for a, f, norm in product(attention, ffn, _NORMS)} if sizes.crossed else set()
        found["layer"] = layer | crossed
        if sizes.layers:
            stack = {sizes.layers * one for one in layer | crossed}
            stack |= (
                {sizes.layers * (3 * a + 2 * f + norm * hidden) for a, f, norm in product(attention, ffn, (0, 5, 10))} if crossed else set()
            )
            found["stack"] = {one + last * hidden for one in stack for last in (0, 1, 2, 4)}
    return {part: sorted(counts) for part, counts in found.items()}


def _width(sizes: OwnSizes) -> tuple[int, int]:
    """Return how wide the queries of a model are, and its keys."""
    head = sizes.head_dim or (sizes.hidden // sizes.heads if sizes.heads and sizes.hidden % sizes.heads == 0 else 0)
    queries = head * sizes.heads if head and sizes.heads else sizes.hidden
    return queries, head * sizes.kv_heads if head and sizes.kv_heads else queries


def _attention(sizes: OwnSizes) -> set[int]:
    hidden, (queries, keys) = sizes.hidden, _width(sizes)
    weights = 2 * hidden * queries + 2 * hidden * keys
    inside = queries + 2 * keys
    return {weights + bias for bias in (0, inside, inside + hidden, hidden, queries + keys)}


def _maps(sizes: OwnSizes) -> tuple[set[int], set[int]]:
    """Return what queries, keys and values may hold together, and what one of their maps may."""
    hidden, (queries, keys) = sizes.hidden, _width(sizes)
    together = hidden * (queries + 2 * keys)
    single = {hidden * width + bias for width in (queries, keys) for bias in (0, width, hidden)}
    head = queries // sizes.heads if sizes.heads else queries
    return {together, together + queries + 2 * keys}, single | {
        2 * hidden * keys,
        2 * hidden * keys + 2 * keys,
        hidden * head,
        3 * hidden * head,
    }


def _feed_forward(sizes: OwnSizes) -> set[int]:
    hidden, mlp = sizes.hidden, sizes.mlp
    plain = {2 * hidden * mlp + bias for bias in (0, mlp + hidden, mlp, hidden)}
    return plain | {3 * hidden * mlp + bias for bias in (0, 2 * mlp + hidden, 2 * mlp, hidden)}


def _tables(sizes: OwnSizes) -> dict[str, set[int]]:
    hidden, words = sizes.hidden, sizes.vocab * sizes.hidden
    found: dict[str, set[int]] = {}
    if sizes.vocab:
        found["word"] = {words, 2 * words, 3 * words} if sizes.crossed else {words, 2 * words}
        found["head"] = {words, words + sizes.vocab, hidden * hidden + hidden + words}
    if sizes.positions:
        found["position"] = {(sizes.positions + more) * hidden for more in (0, 1, 2)}
    if sizes.vocab:
        places = {0, *found.get("position", ())}
        found["embeddings"] = {times * words + place + more * hidden for times in (1, 2) for place in places for more in (0, 1, 2, 3, 4)}
    return found


def whole_counts(sizes: OwnSizes, low: int, high: int) -> int | None:
    """Return a count between two bounds that the whole model may have, or None."""
    parts = readings(sizes)
    stack, hidden, words = parts.get("stack"), sizes.hidden, sizes.vocab * sizes.hidden
    if stack is None or not words:
        return None
    tables = {times * words + bias for times in ((1, 2, 3) if sizes.crossed else (1, 2)) for bias in (0, sizes.vocab)}
    places = {0, *parts.get("position", ())}
    for tail in {
        one + place + more
        for one in tables
        for place in places
        for more in (0, 2 * hidden, hidden * hidden + hidden, hidden * hidden + 3 * hidden)
    }:
        if (found := between(stack, low - tail, high - tail)) is not None:
            return found + tail
    return None


def between(counts: Sequence[int], low: int, high: int) -> int | None:
    """Return the first of ordered counts between two bounds, or None.

    >>> between([10, 20, 30], 15, 25), between([10, 20, 30], 21, 29)
    (20, None)
    """
    place = bisect_left(counts, low)
    return counts[place] if place < bisect_right(counts, high) else None


def any_of(parts: Mapping[str, Sequence[int]], names: Collection[str], low: int, high: int, times: Collection[int] = (1,)) -> int | None:
    """Return a count between two bounds that some part may have, once or some times over."""
    for name in names:
        for many in times:
            found = between(parts.get(name, ()), -(-low // many), high // many)
            if found is not None:
                return found * many
    return None
