"""A directory with a PEFT adapter: its config checked against its tensors.

Source: huggingface/peft 0.17, tuners/lora/layer.py and config.py (rank_pattern, use_dora, modules_to_save)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from weighbridge.core.errors import ReadError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.text import parse_object

CONFIG = "adapter_config.json"
BASE_MODEL = "base_model_name_or_path"
"""Under this key, a listing's metadata says what its adapter adapts."""

LARGEST = 1 << 24

_PAIR = re.compile(r"(?P<module>.+)\.lora_(?P<side>A|B|embedding_A|embedding_B)(\.weight)?")
_QUANTIFIED = re.compile(r"[*+{?]")
MOST_JUDGED = 5_000
"""Modules whose ranks are held against the config's patterns."""

_OWN = re.compile(r"\.lora_(A|B|embedding_A|embedding_B|magnitude_vector)\b")


def adapter_config(folder: Path) -> dict[str, Any] | None:
    """Return the config of the adapter in a directory, or None if there is none.

    Raises:
        ReadError: It is no JSON object.
    """
    path = folder / CONFIG
    try:
        return parse_object(read_whole(path, LARGEST), "the adapter's config")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(path)) from None
    except ReadError as error:
        raise error.at(str(path)) from None


def with_notes(listing: Listing, config: Mapping[str, Any]) -> Listing:
    """Add notes to a listing: what it adapts, and how.

    Raises:
        ReadError: An A without its B, or ranks that do not agree with each other.
    """
    return listing._replace(
        notes=(*listing.notes, *_notes(listing, config)),
        metadata={**listing.metadata, BASE_MODEL: config.get(BASE_MODEL)},
    )


def _notes(listing: Listing, config: Mapping[str, Any]) -> Iterator[str]:
    """Say which base an adapter is for, whether its ranks match its config, and which whole modules are saved with it."""
    base = config.get(BASE_MODEL)
    kind = config.get("peft_type", "adapter")
    if isinstance(base, str) and base:
        yield Text(
            "an adapter ({kind!s:.40}) for {base:.80}: what it adds is counted, the model below it is not in the file", kind=kind, base=base
        )
    else:
        yield Text("an adapter ({kind!s:.40}): what it adds is counted, the model below it is not in the file", kind=kind)
    ranks = _ranks(listing)
    due = {module: expected_rank(module, config) for module in list(ranks)[:MOST_JUDGED]}
    wrong = [module for module, rank in due.items() if rank is not None and rank != ranks[module]]
    if wrong and isinstance(config.get("r"), int):
        module = wrong[0]
        yield Text(
            "{count:,} modules have another rank than the config says, the first is {module} with {rank:,}",
            count=len(wrong),
            module=module,
            rank=ranks[module],
        )
    kept = [tensor for tensor in listing.tensors if not _OWN.search(tensor.name)]
    if ranks and kept:
        count = sum(prod(tensor.shape) for tensor in kept if tensor.tied_to is None)
        yield Text(
            "{tensors:,} tensors with {count:,} elements are whole modules saved with it (modules_to_save), the first is {name}",
            tensors=len(kept),
            count=count,
            name=kept[0].name,
        )


def _ranks(listing: Listing) -> dict[str, int]:
    """Return the rank of each adapted module, by the two matrices that must agree on it."""
    pairs: dict[str, dict[str, StoredTensor]] = {}
    for tensor in listing.tensors:
        found = _PAIR.fullmatch(tensor.name)
        if found and len(tensor.shape) >= 2:
            pairs.setdefault(found["module"], {})[found["side"][-1]] = tensor
    ranks: dict[str, int] = {}
    for module, pair in pairs.items():
        if set(pair) != {"A", "B"}:
            raise ReadError(Text("{module} has lora_{next} without its other half", module=module, next=next(iter(pair))))
        first, second = pair["A"].shape, pair["B"].shape
        if first[0] != second[1]:
            raise ReadError(
                Text("{module}: lora_A has rank {first:,} and lora_B {second:,}", module=module, first=first[0], second=second[1])
            )
        ranks[module] = first[0]
    return ranks


def expected_rank(module: str, config: Mapping[str, Any]) -> object:
    """Return the rank that a config gives a module: that of the first pattern its name ends with, else ``r``; None if a pattern is not judged.

    >>> expected_rank("base_model.model.layers.0.q_proj", {"r": 8, "rank_pattern": {"q_proj": 16}})
    16
    """
    patterns = config.get("rank_pattern")
    for key, rank in patterns.items() if isinstance(patterns, Mapping) else ():
        if module == key or module.endswith(f".{key}"):
            return rank
        matches = _matches(key, module)
        if matches is None:
            return None
        if matches:
            return rank
    return config.get("r")


def _matches(pattern: str, module: str) -> bool | None:
    """Match as PEFT does; None for a pattern that could run away, or a name to run away on."""
    if len(pattern) > 200 or len(module) > 200 or len(_QUANTIFIED.findall(pattern)) > 1 or re.search(r"\)[*+{?]|\\\d|\(\?", pattern):
        return None
    try:
        return re.fullmatch(rf"(.*\.)?({pattern})", module) is not None
    except re.error:
        return None
