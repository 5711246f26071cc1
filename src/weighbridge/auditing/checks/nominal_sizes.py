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
    return frozenset(number for one in presets() for number in _of(one)) | frozenset(_read(_UNPUBLISHED))


_UNPUBLISHED = "178B 204B 137B 530B 540B 8.3B 17B 62B 52B 1.6T 1.2T 1.75T 1.8T 200B 260B 245B 246B 100B 64B 340B 480B 11B 10B 15B 45B"
"""By which models are called that have no preset: Jurassic-1, HyperCLOVA, LaMDA, MT-NLG, PaLM, Megatron-LM, Turing-NLG, Claude's first,
Switch, GLaM, WuDao, what is said of GPT-4, PanGu-alpha, ERNIE 3.0 Titan, Yuan, YaLM and others."""


@lru_cache(maxsize=2048)
def sizes_of_generation(name: str) -> frozenset[Fraction]:
    """Return the counts by which all releases of a model's generation are called: of Llama 3 those of 3.1 and 3.2 too.

    >>> Fraction(405 * 10**9) in sizes_of_generation("llama-3-8b"), Fraction(405 * 10**9) in sizes_of_generation("llama-2-7b")
    (True, False)
    """
    begun = _GENERATION.match(name)
    return frozenset().union(*(sizes for other, sizes in _sizes_by_name() if begun is not None and other.startswith(begun[0])))


@lru_cache(maxsize=1)
def _sizes_by_name() -> tuple[tuple[str, frozenset[Fraction]], ...]:
    """Return by what each preset is called, with its name: they are read once, and asked for with every model of a text."""
    return tuple((one.name, frozenset(_of(one))) for one in presets())


def _of(one: Preset) -> Iterator[Fraction]:
    for text in (one.name, one.published, *one.names):
        yield from _read(text)


def _read(text: str) -> Iterator[Fraction]:
    for number, unit in _NOMINAL.findall(text):
        yield Fraction(number) * _UNITS[unit.lower()]
