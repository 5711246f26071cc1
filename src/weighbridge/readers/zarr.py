"""Directories of Zarr arrays, as Orbax and T5X write checkpoints: one small file of metadata for each array, the chunks not opened.

Orbax keeps them in an OCDBT database (``readers.ocdbt``) unless it is told not to.

Source: zarr-specs, v2 and v3.0; google/orbax, checkpoint/_src/serialization (names are paths joined by dots)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

from weighbridge.core.errors import ReadError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.listing import DEEPEST, LONGEST, Listing, StoredTensor, refuse_immense
from weighbridge.readers.ocdbt import MANIFEST, metadata_of
from weighbridge.readers.text import parse_object
from weighbridge.readers.variables import OPTIMIZER_NOTE, STATISTICS_NOTE, TABLE_NOTE, optimizer_notes, role_of_variable, with_dots

MARKS = (".zarray", ".zgroup", "zarr.json", "_METADATA", "_CHECKPOINT_METADATA", "manifest.ocdbt")
"""Files of which one stands in every such directory."""

ITEMS = ("default", "state", "params", "model")
"""What a step of Orbax' manager calls the item that is the model."""

LARGEST = 1 << 20
DEEPEST_DIRECTORY = 32
MOST_PLACES = 1_000_000

BITS = {
    "bool": ("BOOL", 8),
    "bfloat16": ("BF16", 16),
    "float8_e4m3fn": ("F8_E4M3", 8),
    "float8_e5m2": ("F8_E5M2", 8),
    "int4": ("I4", 4),
    **{
        f"{word}{bits}": (f"{letter}{bits}", bits)
        for word, letter in (("float", "F"), ("int", "I"), ("uint", "U"), ("complex", "C"))
        for bits in (8, 16, 32, 64, 128)
    },
}
"""Names of types in version 3: ours, and their bits."""

_OLD = re.compile(r"[<>|]([biufc])(\d+)", re.ASCII)
_WORDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def is_zarr(folder: Path) -> bool:
    """Tell whether a directory is a Zarr array or group, or an Orbax checkpoint."""
    if any((folder / mark).is_file() for mark in MARKS):
        return True
    with os.scandir(folder) as inside:
        return any((Path(entry) / ".zarray").is_file() for entry in inside)


def list_zarr(folder: Path) -> Listing:
    """List the arrays under a directory.

    Raises:
        ReadError: Damaged metadata, or arrays in a database (OCDBT), whose shapes are not in files of their own.
    """
    tensors: dict[str, StoredTensor] = {}
    for name, array in _in_database(folder) if database(folder) else _in_files(folder):
        name = name.removeprefix("params.").removeprefix("target.")
        if name in tensors:
            raise ReadError(Text("two arrays are called {name!r:.80}", name=name), path=str(folder))
        tensors[name] = array._replace(name=name)
    if not tensors:
        raise ReadError("the directory holds no Zarr arrays", path=str(folder))
    told = tuple(_classify(tensor, tensors) for tensor in tensors.values())
    return refuse_immense(Listing("zarr", told, {}, optimizer_notes(told), ordered=False))


def database(folder: Path) -> Path | None:
    """Return the folder of a checkpoint that is an OCDBT database: itself, or the one item of a step of Orbax' manager."""
    return next((place for place in (folder, *(folder / name for name in ITEMS)) if (place / MANIFEST).is_file()), None)


def _in_database(folder: Path) -> Iterator[tuple[str, StoredTensor]]:
    """Yield the arrays of a database, by their keys."""
    place = database(folder)
    assert place is not None
    for key, data in metadata_of(place):
        path, _, file = key.rpartition("/")
        array = _parse(data, 2 if file == ".zarray" else 3, place / key)
        if array is not None:
            yield with_dots(path), array


def _in_files(folder: Path) -> Iterator[tuple[str, StoredTensor]]:
    """Yield the arrays of a directory, by the paths of theirs."""
    for place, version in _places(folder):
        name = with_dots(place.relative_to(folder).as_posix()) if place != folder else place.name
        array = _array(place / (".zarray" if version == 2 else "zarr.json"), version)
        if array is not None:
            yield name, array


def _places(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the directories of arrays, with the version of their metadata; chunks are not walked."""
    waiting = [(folder, 0)]
    left = MOST_PLACES
    while waiting:
        place, depth = waiting.pop()
        inside: list[Path] = []
        version = 0
        with os.scandir(place) as entries:
            for entry in entries:
                left -= 1
                if left < 0 or depth > DEEPEST_DIRECTORY:
                    raise ReadError(
                        Text("a directory of more than {most_places:,} files, or nested too deep", most_places=MOST_PLACES),
                        path=str(folder),
                    )
                if entry.name in (".zarray", "zarr.json"):
                    version = 2 if entry.name == ".zarray" else 3
                elif entry.is_dir(follow_symlinks=False):
                    inside.append(Path(entry.path))
        if version:
            yield place, version
        if version != 2:
            waiting += [(path, depth + 1) for path in sorted(inside, reverse=True)]


def _array(path: Path, version: int) -> StoredTensor | None:
    """Read the metadata of one array; None if it is that of a group."""
    try:
        data = read_whole(path, LARGEST)
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(path)) from None
    return _parse(data, version, path)


def _parse(data: bytes, version: int, path: Path) -> StoredTensor | None:
    """Read the metadata of one array; None if it is that of a group."""
    try:
        found = parse_object(data, "the metadata")
    except ReadError as error:
        raise error.at(str(path)) from None
    if version == 3 and found.get("node_type") != "array":
        return None
    stated = found.get("zarr_format")
    if type(stated) is not int or stated != version:
        raise ReadError(Text("zarr_format is {found!r:.40}, expected {version}", found=stated, version=version), path=str(path))
    dtype, bits = _type(found, version, path)
    shape = found.get("shape")
    if not isinstance(shape, list) or len(shape) > DEEPEST or not all(type(size) is int and 0 <= size < LONGEST for size in shape):
        raise ReadError(Text("the shape {shape!r:.80} is impossible", shape=shape), path=str(path))
    return StoredTensor("", dtype, tuple(shape), -(-prod(shape) * bits // 8))


def _type(found: Mapping[str, object], version: int, path: Path) -> tuple[str, int]:
    stated = found.get("dtype" if version == 2 else "data_type")
    word = stated if isinstance(stated, str) else ""
    old = _OLD.fullmatch(word)
    if version == 2 and old:
        word = "bool" if old[1] == "b" else f"{_WORDS[old[1]]}{8 * int(old[2][:3])}"
    if word not in BITS:
        raise ReadError(Text("the type {stated!r:.80} is not known", stated=stated), path=str(path))
    return BITS[word]


def _classify(tensor: StoredTensor, names: Mapping[str, StoredTensor]) -> StoredTensor:
    """Tell the optimizer's arrays and statistics from parameters."""
    if re.match(r"(state\.)?(opt_state|optimizer|param_states|mu|nu|exp_avg)\b", tensor.name):
        return tensor._replace(role="buffer", note=OPTIMIZER_NOTE)
    if tensor.name.startswith("batch_stats."):
        return tensor._replace(role="buffer", note=STATISTICS_NOTE)
    if not tensor.dtype.startswith(("F", "BF", "C")):
        return tensor._replace(role="buffer", note=TABLE_NOTE)
    return tensor._replace(role=role_of_variable(tensor.name, tensor.shape, names))
