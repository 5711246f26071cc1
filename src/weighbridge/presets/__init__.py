"""Published models by name: their configs, where those were published, and the count that their authors state.

Each file beside this one holds some of them; a name is looked for in the text before anything is parsed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

PRESETS = os.path.dirname(__file__)


class Preset(NamedTuple):
    """A published model's config values, with where they were published.

    Attributes:
        name: What one types.
        source: Where the values come from.
        hub: The Hub id, which may be typed as well.
        published: The parameter count its authors state, as they wrote it, or the empty string.
        config: The values that decide its tensors.
    """

    name: str
    source: str
    hub: str
    published: str
    config: dict[str, Any]


def preset(name: str) -> Preset | None:
    """Return the preset of this name or Hub id, or None.

    >>> preset("bert-base-chinese").config["vocab_size"]
    21128
    """
    if name not in _CACHE:
        needle = f'"{name}"'
        for text in _preset_files():
            if needle in text:
                _CACHE.update({key: found for found in _presets(text) for key in (found.name, found.hub) if key})
    return _CACHE.get(name)


def presets() -> Iterator[Preset]:
    """Yield all presets, file by file."""
    for text in _preset_files():
        yield from _presets(text)


_CACHE: dict[str, Preset] = {}


def _preset_files() -> Iterator[str]:
    """Yield the text of each file of presets; a name is looked for before anything is parsed."""
    for name in sorted(os.listdir(PRESETS)):
        if name.endswith(".json"):
            with open(os.path.join(PRESETS, name), encoding="utf-8") as file:
                yield file.read()


def _presets(text: str) -> Iterator[Preset]:
    for name, entry in json.loads(text).items():
        yield Preset(name, entry["source"], entry.get("hub", ""), entry.get("published", ""), entry["config"])
