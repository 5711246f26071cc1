"""Bare names of families, taken for the member that the text or the sizes beside them tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weighbridge.auditing.checks.main_model import AssumedModel, sizes_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.claims import Line
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.presets.aliases import FAMILY, MODEL, preset_configs


def resolve_families(lines: Sequence[Line], named: dict[int, list[Mention]], main: AssumedModel | None) -> dict[int, list[Mention]]:
    """Take a family's bare name, such as ``Mixtral``, for the model of that family that the text is about."""
    if main is None:
        return named
    return {
        index: [m._replace(name=main.name, kind=MODEL) if m.kind == FAMILY and main.name in m.names else m for m in found]
        for index, found in named.items()
    }


def by_sizes(named: dict[int, list[Mention]], sizes: Sequence[StatedSize]) -> dict[int, list[Mention]]:
    """Take a family's bare name for its member whose sizes stand beside it: ``GPT-2, 12-layer, 768-hidden``."""
    beside: dict[int, dict[str, int]] = {}
    for size in sizes:
        beside.setdefault(size.token.line, {})[size.word] = size.value
    for index, found in named.items():
        told = beside.get(index, {})
        if not told or any(m.kind != FAMILY or m.names != found[0].names for m in found):
            continue
        fitting = [
            name
            for name in found[0].names
            if all(sizes_of(preset_configs()[name]).get(word, value) == value for word, value in told.items())
        ]
        if fitting and (len(told) > 1 or len(fitting) == len(found[0].names)):
            named[index] = [m._replace(name=fitting[0], names=tuple(fitting), kind=MODEL) for m in found]
    return named


def is_about_another(found: Sequence[Mention], column: int) -> bool:
    """Tell whether what stands here is said of a large sister, or of a model that cannot be told."""
    before = [mention for mention in found if mention.column <= column]
    return bool(before) and (before[-1].name is None or "large" in before[-1].name)


def majority_sizes(sizes: Sequence[StatedSize]) -> dict[str, int]:
    """Return the size that is stated most often for each word; firm statements count more, the first wins."""
    votes: dict[str, Counter[int]] = {}
    for size in sizes:
        votes.setdefault(size.word, Counter())[size.value] += 10 if size.firm else 1
    return {word: counter.most_common(1)[0][0] for word, counter in votes.items()}
