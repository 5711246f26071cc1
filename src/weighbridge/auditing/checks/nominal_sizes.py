"""The counts by which known models are called, and those that their authors state: what a text may mean without a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing.patterns import pattern
from weighbridge.presets import Preset, presets

_NOMINAL = pattern(r"(?<![\d.])(\d+(?:\.\d+)?)\s?([bmt])(?![a-z])", re.IGNORECASE)
_UNITS = {"m": 10**6, "b": 10**9, "t": 10**12}
_GENERATION = pattern(r"[a-z]+(?:-?\d+(?![\d.]*[bm]))?", re.IGNORECASE)
"""A family with its generation, at the beginning of a model's name: ``llama-3`` of ``llama-3.1-405b``."""


@lru_cache(maxsize=1)
def nominal_sizes() -> frozenset[Fraction]:
    """Return the counts by which known models are called.

    >>> {Fraction(33 * 10**9), Fraction(175 * 10**9)} <= nominal_sizes()
    True
    """
    return frozenset(number for one in presets() for number in _of(one))


@lru_cache(maxsize=64)
def sizes_of_generation(name: str) -> frozenset[Fraction]:
    """Return the counts by which all releases of a model's generation are called: of Llama 3 those of 3.1 and 3.2 too.

    >>> Fraction(405 * 10**9) in sizes_of_generation("llama-3-8b"), Fraction(405 * 10**9) in sizes_of_generation("llama-2-7b")
    (True, False)
    """
    begun = _GENERATION.match(name)
    return frozenset(number for one in presets() if begun is not None and one.name.startswith(begun[0]) for number in _of(one))


def _of(one: Preset) -> Iterator[Fraction]:
    for text in (one.name, one.published, *one.names):
        for number, unit in _NOMINAL.findall(text):
            yield Fraction(number) * _UNITS[unit.lower()]
