"""The names that can be chosen, ranked as a person would: ``llama 3`` is Llama 3 8B before anything that merely has a 3 in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from weighbridge.accounts.parameters import unique_of
from weighbridge.blueprints import MODULES
from weighbridge.core.errors import WeighbridgeError
from weighbridge.load import load
from weighbridge.presets import presets
from weighbridge.presets.aliases import MODEL, lookup

MOST = 40
"""Names that are offered at once."""

FIRST = (
    "bert-base-uncased",
    "bert-large-uncased",
    "bert-base-chinese",
    "roberta-base",
    "gpt2",
    "t5-small",
    "llama-3-8b",
    "llama-3.1-70b",
    "mistral-7b-v0.1",
    "mixtral-8x7b",
    "qwen2.5-7b",
    "qwen3-0.6b",
    "deepseek-v3",
    "gemma-2-2b",
    "whisper-large-v3",
    "vit-base-patch16-224",
    "clip-vit-base-patch32",
    "qwen2.5-vl-7b",
    "mamba-130m",
)
"""What stands at the head of the list where nothing is typed: the models that people ask for first, one of each kind."""


class Name(NamedTuple):
    """Something that can be typed.

    Attributes:
        value: What is typed.
        hub: Its id on the Hub, if it has one.
        preset: Whether it is a published model; else it is a model type.
    """

    value: str
    hub: str
    preset: bool


@cache
def all_names() -> tuple[Name, ...]:
    """Return what can be named: presets, the parts of diffusion pipelines after the others, then model types."""
    ordered = sorted(presets(), key=lambda found: str(found.config.get("model_type", "")).startswith("diffusers"))
    known = tuple(Name(found.name, found.hub or "", True) for found in ordered)
    return (*known, *(Name(name, "", False) for name in MODULES))


@lru_cache(8192)
def pieces(name: str) -> tuple[str, ...]:
    """Cut a name where words and numbers meet.

    >>> pieces("Llama-3.1-8B")
    ('llama', '3.1', '8', 'b')
    """
    return tuple(re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", name.lower()))


def find_names(text: str, most: int = MOST) -> list[Name]:
    """Return the names that *text* may mean, the likeliest first; where nothing is typed, those that people ask for first.

    What a person means by a name (``presets.aliases``, where the command line and the audit look too) comes before what is merely spelt like it,
    and a family's members before what is only called after it.

    >>> [find_names(text)[0].value for text in ("ViT-B/32", "mbert", "gpt2 1.5b")]
    ['vit-base-patch32-384', 'bert-base-multilingual-cased', 'gpt2-xl']
    >>> [find_names(text)[0].value for text in ("llama 3", "llama3", "bert", "qwen3 0.6", "BERT chinese")]
    ['llama-3-8b', 'llama-3-8b', 'bert-base-uncased', 'qwen3-0.6b', 'bert-base-chinese']
    """
    wanted = pieces(text)
    if not wanted:
        by_value = {name.value: name for name in reversed(all_names())}
        return list(dict.fromkeys((*(by_value[value] for value in FIRST), *all_names())))[:most]
    found = lookup(text)
    places = {value: place for place, value in enumerate(found.names)} if found is not None else {}
    meant = places if found is not None and found.kind == MODEL else {}
    ranked = [
        (rank, not name.preset, name.value not in places, places.get(name.value, index), name)
        for index, name in enumerate(all_names())
        if (rank := _rank(name, wanted, text) if name.value not in meant else min(_rank(name, wanted, text), _ALIAS)) < _NONE
    ]
    return [name for *_, name in sorted(ranked)[:most]]


_NONE, _ALIAS = 9, 0


def _rank(name: Name, wanted: Sequence[str], text: str) -> int:
    """Tell how well a name fits: 0 the name itself, up to 8 letters somewhere inside it; 9 not at all.

    >>> [_rank(Name(name, "", True), ("t", "5"), "t5") for name in ("t5-small", "t5gemma-2b-2b")]
    [1, 2]
    >>> [_rank(Name(name, "", True), ("llama", "3"), "llama 3") for name in ("llama-3-8b", "llama-3.1-8b", "llama-30b")]
    [1, 4, 5]
    """
    own = pieces(name.value)
    if (own == tuple(wanted) and name.preset) or (name.hub and name.hub.lower() == text.lower().strip()):
        return 0
    if own[: len(wanted)] == tuple(wanted):
        return 1 if re.match(r"[\W_]*".join(map(re.escape, wanted)) + r"(?![^\W_])", name.value.lower()) else 2
    hub = pieces(name.hub.rpartition("/")[2])
    if hub[: len(wanted)] == tuple(wanted):
        return 3
    if starts := [rank for rank in (_start(own, wanted), _start(hub, wanted)) if rank]:
        return min(starts)
    if all(any(piece.startswith(word) for piece in own) for word in wanted):
        return 6
    both = {*own, *pieces(name.hub)}
    if all(any(piece.startswith(word) for piece in both) for word in wanted):
        return 7
    low = f"{name.value} {name.hub}".lower()
    return 8 if all(word in low for word in text.lower().split()) else _NONE


def _start(own: Sequence[str], wanted: Sequence[str]) -> int:
    """Tell how a name begins with what is wanted, whose last piece need not be complete: 4 where a number only grows behind its point, 5 else, 0 not at all."""
    *first, last = wanted
    if list(own[: len(first)]) != first or len(own) == len(first) or not own[len(first)].startswith(last):
        return 0
    return 5 if own[len(first)].removeprefix(last)[:1].isdigit() else 4


@lru_cache(2048)
def count_of(name: str) -> int | None:
    """Count what is typed, in its own class; None if it cannot be."""
    try:
        return unique_of(load(name if any(known.value == name and known.preset for known in all_names()) else {"model_type": name}))
    except WeighbridgeError:
        return None
