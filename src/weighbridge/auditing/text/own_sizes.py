"""The sizes that a text gives a model of its own, which no preset is: in words, in settings and in letters."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.settings import read_settings

_SIZES = frozenset(("layers", "hidden", "mlp", "heads", "kv_heads", "head_dim", "vocab", "positions"))
_MOST = 10**7


@once_for_each_text
def plain_sizes_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return the sizes that a line says in words or sets, each number once.

    >>> plain_sizes_of("12 layers, d_model = 512 and a vocabulary of 32,000 tokens")
    (('layers', 12), ('hidden', 512), ('vocab', 32000))
    """
    return tuple((word, value) for word, value, *_ in placed_sizes(text))


@once_for_each_text
def placed_sizes(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Return them with where their numbers stand."""
    found: dict[int, tuple[str, int, int, int]] = {}
    for word, value, start, end in _read(text):
        if word in _SIZES and 0 < value < _MOST:
            found.setdefault(start, (word, value, start, end))
    return tuple(found[start] for start in sorted(found))


def _read(text: str) -> Iterator[tuple[str, int, int, int]]:
    for setting in read_settings(text):
        if text[setting.start : setting.end].replace(",", "").replace("_", "").isdigit():
            yield setting.kind, int(text[setting.start : setting.end].replace(",", "").replace("_", "")), setting.start, setting.end
    for size in find_described_sizes(text):
        yield size.word, size.value, size.start, size.end
