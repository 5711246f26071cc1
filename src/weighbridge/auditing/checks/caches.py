"""Key-value caches that are claimed, for one token or for many: held against ``weigh cache``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.auditing.checks.amounts import PER_TOKEN, Amount, Figure, hold
from weighbridge.auditing.claims import Claim, said
from weighbridge.auditing.thresholds import MOST_READINGS
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

OF_CACHE = re.compile(
    r"k[/ -]?v[- ]?cache|kv 缓存|键值缓存|kv缓存|key.value cache|cache memory|for the cache|of cache|memory per token", re.IGNORECASE
)
SHORT = 16
"""Tokens of a cache that no window limits."""
_EVERY = re.compile(r"\bMHA\b|multi[- ]head attention", re.IGNORECASE)
_GROUPED = re.compile(r"\b[GM]QA\b|grouped|分组|k[/-]?v heads|key[- ]value heads|kv 头", re.IGNORECASE)
_LENGTHS = re.compile(
    r"(?<![\d.])(\d[\d,]*)\s?(k\b)?(?:[- ]?(?:tokens?|token context|context|ctx|sequence|上下文|长度)|\s?个 ?token)|(?:长度|context|length|seq(?:_len)?|tokens?)\W{0,4}(\d[\d,]*)(k\b)?",
    re.IGNORECASE,
)
_BATCH = re.compile(
    r"(?:batch(?: size)?|批大小|批次)\W{0,6}(?:of )?(\d{1,4})\b|(\d{1,4})\s?(?:concurrent |parallel )?(?:requests|sequences|users|条)",
    re.IGNORECASE,
)


def judge(place: Figure, models: Sequence[ModelValue], told: Sequence[Fraction] = (), *, firm: bool) -> Claim | None:
    """Check a cache for one token, or for as many as the words about it say; in 16, 32 or 8 bits, or as is told."""
    sizes = [int(told[0])] if len(told) == 1 and told[0] >= 1 else [2, 4, 1]
    each = PER_TOKEN.search(place.near) is not None
    times = _paired(place) or _tokens(place.text)
    lengths = [Fraction(1)] if each else times
    amounts = list(_amounts(models, place, lengths, sizes))
    if each and times:
        amounts += _amounts(models, place, times, sizes)  # ``per token`` may be said of another figure beside it
    return hold(place, amounts if len(amounts) <= MOST_READINGS else [], firm=firm and bool(lengths))


def _paired(place: Figure) -> list[Fraction]:
    """Return the length that a figure of a list is of, where each has its own: ``4K tokens 0.5 GB 32K tokens 4 GB``."""
    line, own = place.scene.lines[place.token.line].text, _LENGTHS.search(place.near)
    lengths = [match.start() for match in _LENGTHS.finditer(line)]
    pairs = len(lengths) > 1 and len(lengths) == len(_BYTES.findall(line))
    return _tokens(own[0]) if pairs and own is not None else []


_BYTES = re.compile(r"\d\s?[KMGT]i?B\b", re.IGNORECASE)


def _amounts(models: Sequence[ModelValue], place: Figure, lengths: Sequence[Fraction], sizes: Sequence[int]) -> Iterator[Amount]:
    for model in models:
        own, every = _per_token(model)
        chosen = (every,) if _EVERY.search(place.sentence) else (own,) if _GROUPED.search(place.text) else (own, every)
        for length in lengths:
            for size in sizes:
                for elements in chosen:
                    if elements:
                        number = Fraction(elements * size) * length
                        yield Amount(
                            number,
                            said(mark("keys and values of every layer: {bytes} bytes, {size} for each element"), bytes=number, size=size),
                        )


def _tokens(text: str) -> list[Fraction]:
    """Return how many tokens a cache may be of, by the lengths and the batches that a text says."""
    lengths = []
    for match in _LENGTHS.finditer(text):
        number = Fraction((match[1] or match[3]).replace(",", "") or 0)
        lengths += [number * 1000, number * 1024] if match[2] or match[4] else [number]
    batches = [Fraction(match[1] or match[2]) for match in _BATCH.finditer(text)]
    return [length * batch for length in lengths if length for batch in (Fraction(1), *batches) if batch][:12]


@lru_cache(maxsize=256)
def _per_token(model: ModelValue) -> tuple[int, int]:
    """Return the elements that a token leaves in the cache: as it is, and if every head had its own keys."""
    sizes = model.description.sizes if model.description is not None else None
    try:
        own = cache_of(model, Inputs(batch=1, seq=SHORT)).per_token // 2
    except (WeighbridgeError, AssertionError, TypeError):
        return 0, 0
    heads, keys = getattr(sizes, "heads", None), getattr(sizes, "kv_heads", None)
    plain = isinstance(heads, int) and isinstance(keys, int) and keys and not getattr(sizes, "kv_lora", None)
    return own, own // keys * heads if plain else own  # type: ignore[operator]
