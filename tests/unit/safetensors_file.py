"""safetensors files for tests: a header for tensors of one type, and the file behind it, sparse or whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path


def head(shapes: Mapping[str, Iterable[int]], dtype: str = "F32", itemsize: int = 4) -> tuple[bytes, int]:
    """Return the length and the header of a file, and how many bytes of tensors follow it.

    >>> head({"w": (2, 3)})[1]
    24
    """
    entries, end = {}, 0
    for name, shape in shapes.items():
        lengths = list(shape)
        begin, end = end, end + itemsize * prod(lengths)
        entries[name] = {"dtype": dtype, "shape": lengths, "data_offsets": [begin, end]}
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text, end


def whole(shapes: Mapping[str, Iterable[int]]) -> bytes:
    """Return a file whose tensors are zeros."""
    first, data = head(shapes)
    return first + bytes(data)


def write(path: Path, shapes: Mapping[str, Iterable[int]], dtype: str = "F32", itemsize: int = 4) -> int:
    """Write a file that takes no room for its tensors; return how many bytes they have."""
    first, data = head(shapes, dtype, itemsize)
    with path.open("wb") as file:
        file.write(first)
        file.truncate(len(first) + data)
    return data
