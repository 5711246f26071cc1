"""Key-value caches that a passage says word for word, by the sizes it says or by those of the model that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import READ_FAR
from weighbridge.auditing.checks.caches import elements_if_ungrouped, elements_per_token
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.quantity_subjects import NOTHING, Possible, models_of
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.quantities import Quantity

_MEMORY = pattern(r"memory|\bV?RAM\b|显存|内存", re.IGNORECASE)
_LAYER = pattern(r"(?:per|each|every|one|single|a) layer|每一?层|单层|一层|/\s?层|per[- ]layer", re.IGNORECASE)
_CACHED = (Fraction(2), Fraction(4), Fraction(1))
"""Bytes of an element of a cache, the likeliest first."""
_THOUSAND = 1000
_MOST = 96


def possible_cache(scene: Scene, quantity: Quantity, rates: Sequence[Fraction]) -> Possible:
    """Return the bytes that keys and values may take."""
    if _LAYER.search(quantity.clause):
        return NOTHING
    own, ungrouped = _elements(scene, quantity)
    known = dtype_sizes(" ".join(quantity.known_dtypes))
    told = dtype_sizes(" ".join(quantity.dtypes)) or (
        known if min(known, default=2) >= _CACHED[0] else [*known, *_CACHED]
    )  # weights in 4 bits
    each = [Fraction(elements) * size for elements in own for size in told or _CACHED]
    each = [*rates, *each] if rates and not quantity.dtypes else each
    single = "per" in quantity.words or ("layers" in quantity.words and not quantity.words & {"length", "batch"})
    lengths = [Fraction(1)] if single else [n for length in quantity.lengths for n in _both(length)]
    spans = [length * batch for batch in (*quantity.batches, *([] if quantity.batches else [Fraction(1)])) for length in lengths]
    numbers = [one * span for one in each for span in spans]
    if not numbers or len(numbers) > _MOST:
        return NOTHING
    if {"per", "batch"} <= quantity.words:
        return NOTHING
    others = [Fraction(elements) * size * span for elements in ungrouped for size in told or _CACHED for span in spans]
    memory = "cache" not in quantity.words and _MEMORY.search(quantity.clause) is not None  # of all that runs
    settled = (len(set(quantity.lengths)) <= 1 or single) and not memory
    return Possible([*numbers, *(others if not settled else ())], settled, READ_FAR, READ_FAR)


def _both(length: Fraction) -> list[Fraction]:
    """Return what a length may be: one in thousands may be in powers of two."""
    return [length, length * 1024 / 1000] if length % _THOUSAND == 0 else [length]


def _elements(scene: Scene, quantity: Quantity) -> tuple[list[int], list[int]]:
    """Return the elements that a token leaves in the cache: by the sizes that are said, and as the model that is named has it."""
    said, sizes = dict(quantity.sizes), None
    models = models_of(scene, quantity.subject)
    if models:
        sizes = words_of(models[0])
        if any(said.get(word, sizes.get(own)) != sizes.get(own) for word, own in _OWN_WORDS if own in sizes):
            return [], []  # other sizes than the model's
        found = [elements_per_token(model) for model in models if elements_per_token(model)]
        return found, [elements_if_ungrouped(model) for model in models]
    layers, heads, width, hidden = said.get("layers"), said.get("heads"), said.get("headdim"), said.get("hidden")
    keys = said.get("kvheads")
    if width is None and heads and hidden and hidden % heads == 0:
        width = hidden // heads
    if not layers or (keys is not None and width is None):
        return [], []
    wide = keys * width if keys and width else heads * width if heads and width else hidden
    return ([2 * layers * wide] if wide else []), []


_OWN_WORDS = (("layers", "layers"), ("kvheads", "kv_heads"), ("headdim", "head_dim"), ("hidden", "hidden"))
