"""Directories of torch's distributed checkpoints (DCP: ``.metadata`` and ``.distcp``), as FSDP, torchtitan and Megatron's ``torch_dist`` write them.

``.metadata`` is a pickle of every tensor's full shape and type, its chunks, and where in which file they lie; the files themselves are not opened.
The chunks must make up the shape, and the files must be there and be long enough.

Source: torch 2.13.0, torch/distributed/checkpoint/metadata.py (``Metadata``), filesystem.py (``_StorageInfo``), planner_helpers.py
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

from weighbridge.core.errors import ReadError
from weighbridge.core.files import is_file_name, read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.pickle_values import Opaque, Stub
from weighbridge.readers.pickles import load
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_names import listing_of
from weighbridge.readers.torch_storages import BYTES, DTYPES, LARGEST_PICKLE, MAKERS, Storage, View, shape_of, storage_of

METADATA = ".metadata"
MOST_FILES = 100_000


def is_distributed(folder: Path) -> bool:
    """Tell whether a directory is a distributed checkpoint of torch."""
    return (folder / METADATA).is_file()


def list_distributed(folder: Path) -> Listing:
    """List the tensors of a distributed checkpoint.

    Raises:
        ReadError: Damaged metadata, chunks that do not make up their tensor, or a file that is missing or too short.
    """
    path = folder / METADATA
    try:
        data = read_whole(path, LARGEST_PICKLE)
        _check_files(folder, _ends(_metadata(data).get("storage_data")))
        listing = listing_from(data)
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror or error), path=str(path)) from None
    except ReadError as error:
        raise error.at(str(path)) from None
    return listing


def listing_from(data: bytes) -> Listing:
    """List the tensors by the metadata alone."""
    metadata = _metadata(data)
    entries = metadata.get("state_dict_metadata")
    if not isinstance(entries, dict):
        raise ReadError("the metadata names no tensors")
    listing = listing_of(_nest(entries, metadata.get("planner_data")), {})
    return listing._replace(format="distributed", tensors=tuple(map(_with_own_bytes, listing.tensors)))


def _metadata(data: bytes) -> dict[Any, Any]:
    return _attributes(load(data, MAKERS, storage_of)[0], "Metadata")


def _with_own_bytes(tensor: StoredTensor) -> StoredTensor:
    """Return a tensor that owns its bytes: chunks are never shared."""
    return tensor._replace(size_bytes=prod(tensor.shape) * BYTES[tensor.dtype], note="" if tensor.role is None else tensor.note)


def _attributes(node: object, kind: str) -> dict[Any, Any]:
    state = node.state if isinstance(node, Stub) else None
    if not isinstance(state, dict):
        raise ReadError(Text("the metadata is not a {kind} of torch's distributed checkpoints", kind=kind))
    return state


def _nest(entries: dict[Any, Any], paths: object) -> dict[str, Any]:
    """Return the state dict that was saved, by the path that each entry had in it."""
    root: dict[str, Any] = {}
    for name, entry in entries.items():
        path = paths.get(name) if isinstance(paths, dict) else None
        keys = path if isinstance(path, tuple) and path and all(isinstance(key, str | int) for key in path) else (name,)
        node = root
        for key in keys[:-1]:
            inner = node.setdefault(str(key), {})
            if not isinstance(inner, dict):
                raise ReadError(Text("{name} lies within another entry", name=make_printable(str(name))))
            node = inner
        node[str(keys[-1])] = _tensor(str(name), entry)
    return root


def _tensor(name: str, entry: object) -> View | None:
    """Return a tensor by its metadata; None for what is no tensor."""
    if isinstance(entry, Stub) and entry.state is None:
        return None
    stated = _attributes(entry, "Metadata")
    if "size" not in stated:
        return None
    shape = shape_of(stated["size"])
    properties = stated.get("properties")
    values = properties.state if isinstance(properties, Stub) else None
    dtype = values[0] if isinstance(values, tuple) and values else values.get("dtype") if isinstance(values, dict) else None
    word = DTYPES.get(getattr(dtype, "name", ""), "")
    if not word:
        raise ReadError(Text("{name} has no element type", name=make_printable(name)))
    chunks = stated.get("chunks")
    held = [prod(shape_of(_attributes(chunk, "Metadata").get("sizes"))) for chunk in chunks] if isinstance(chunks, list) else []
    if sum(held) != prod(shape):
        raise ReadError(
            Text(
                "the chunks of {name} hold {held:,} elements, its shape {shape} has {count:,}",
                name=make_printable(name),
                held=sum(held),
                shape=list(shape),
                count=prod(shape),
            )
        )
    stride = tuple(prod(shape[place + 1 :]) for place in range(len(shape)))
    return View(Storage(name, word, prod(shape) * BYTES[word]), word, 0, shape, stride)


def _ends(places: object) -> dict[str, int]:
    """Return the files that hold the chunks, and how far each must reach."""
    ends: dict[str, int] = {}
    for key, place in places.items() if isinstance(places, dict) else ():
        if not isinstance(key, Opaque | str | Stub):
            continue
        stated = _attributes(place, "Metadata")
        name, offset, length = (stated.get(word) for word in ("relative_path", "offset", "length"))
        if not isinstance(name, str) or type(offset) is not int or type(length) is not int or min(offset, length) < 0:
            raise ReadError("a chunk's place in the metadata is damaged")
        ends[name] = max(ends.get(name, 0), offset + length)
    if len(ends) > MOST_FILES:
        raise ReadError(Text("metadata of {count:,} files", count=len(ends)))
    return ends


def _check_files(folder: Path, ends: dict[str, int]) -> None:
    """Hold the files against the metadata: all there, and long enough."""
    for name, end in ends.items():
        if not is_file_name(name):
            raise ReadError(Text("the metadata names {name!r}, which is not in this directory", name=make_printable(name)))
        path = folder / name
        if not path.is_file():
            raise ReadError(Text("{name} is missing, which holds part of the tensors", name=make_printable(name)))
        size = path.stat().st_size
        if size < end:
            raise ReadError(Text("{name} has {size:,} bytes, its chunks reach to {end:,}", name=make_printable(name), size=size, end=end))
