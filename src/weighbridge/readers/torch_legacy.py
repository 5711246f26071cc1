"""Files that torch wrote before 1.6: a magic number, a version, the machine, the object, then the storages, each a pickle.

Source: torch 2.13.0, torch/serialization.py, ``_legacy_save`` and ``_legacy_load``.
"""

from __future__ import annotations

from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import Listing
from weighbridge.readers.pickles import load
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_names import listing_of, views_of
from weighbridge.readers.torch_storages import BYTES, LARGEST_PICKLE, MAKERS, rows_first, storage_of

FEW_STEPS = 10_000
"""What the magic number, the version and the description of the machine may take to read."""

MOST_KEYS = 300_000
"""The same for the list of storages."""


def read_legacy(file: BinaryIO) -> Listing:
    """List the tensors of a file that torch wrote before 1.6, and hold the storages behind against the pickle.

    Raises:
        ReadError: The file is damaged or cut off.
    """
    found, whole, _ = _unpickle(file)
    return listing_of(found, {}, {key for key, (_, count) in whole.items() if count})


def contents(file: BinaryIO) -> object:
    """Return what the file's pickle holds."""
    return _unpickle(file)[0]


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each tensor's bytes begin, how many they are, and their type; strided ones are left out."""
    found, _, places = _unpickle(file)
    return {
        name: (
            places[view.storage.key] + view.storage.begin + view.offset * view.item_bytes,
            prod(view.shape) * view.item_bytes,
            view.dtype,
        )
        for name, view in views_of(found).items()
        if view.storage is not None
        and view.storage.key in places
        and not view.inner
        and view.dense
        and view.extent == prod(view.shape)
        and view.stride == rows_first(view.shape)
    }


def _unpickle(file: BinaryIO) -> tuple[object, dict[str, tuple[str, int]], dict[str, int]]:
    """Return what the file holds, its storages with their types and elements, and where each begins."""
    size = file.seek(0, 2)
    file.seek(0)
    data = file.read(min(size, LARGEST_PICKLE))
    whole: dict[str, tuple[str, int]] = {}

    def persistent(identity: object) -> object:
        if isinstance(identity, tuple) and len(identity) == 4 and identity[0] == "module":
            return identity[1]
        storage = storage_of(identity)
        assert isinstance(identity, tuple)
        held = whole.setdefault(storage.key, (storage.dtype, identity[4]))
        if held != (storage.dtype, identity[4]):
            raise ReadError(Text("the storage {shown} is described in two ways", shown=make_printable(storage.key)))
        return storage

    position = 0
    for _ in range(3):
        _, position = load(data, {}, storage_of, position, most=FEW_STEPS)
    found, position = load(data, MAKERS, persistent, position)
    keys, position = load(data, {}, storage_of, position, most=MOST_KEYS)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or sorted(keys) != sorted(whole):
        raise ReadError("the file's list of storages does not match its tensors", offset=position)
    places = {}
    for key in keys:
        places[key] = position + 8
        position = _past_storage(file, position, key, *whole[key])
    if position != size:
        raise ReadError(
            Text("the storages end at {position:,}, the file at {size:,}", position=position, size=size), offset=min(position, size)
        )
    return found, whole, places


def _past_storage(file: BinaryIO, position: int, key: str, dtype: str, count: int) -> int:
    """Check a stored run's own count of elements and return where it ends."""
    file.seek(position)
    stated = int.from_bytes(file.read(8), "little", signed=True)
    if stated != count:
        raise ReadError(
            Text(
                "the storage {shown} should have {count:,} elements and says {stated:,}",
                shown=make_printable(key),
                count=count,
                stated=stated,
            ),
            offset=position,
        )
    return position + 8 + count * BYTES.get(dtype, 1)
