"""The table of checkpoint formats: which module reads which file. ``readers.listing`` tells what a reader is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from weighbridge.core.errors import ReadError
from weighbridge.core.fold import fold
from weighbridge.core.tree import Row
from weighbridge.readers.listing import Listing, Reader, Stored
from weighbridge.readers.packing import config_beside, unpack
from weighbridge.readers.roles import norms, rank, role_of
from weighbridge.value import ModelValue


class Format(NamedTuple):
    """One format: its name, the module that reads it, and the endings its files have.

    The ending is asked only if no reader recognises the first bytes: it says what a damaged file was meant to be.
    """

    name: str
    module: str
    endings: tuple[str, ...]


FORMATS: tuple[Format, ...] = (
    Format("", "legacy", ()),
    Format("safetensors", "safetensors", (".safetensors",)),
    Format("torch", "torch_zip", (".bin", ".pt", ".pth", ".ckpt", ".pkl")),
    Format("GGUF", "gguf", (".gguf",)),
    Format("ONNX", "onnx", (".onnx",)),
    Format("TensorFlow", "tensorflow", (".index",)),
    Format("Keras", "keras", (".h5", ".hdf5", ".keras")),
    Format("npz", "npz", (".npz",)),
    Format("Flax", "flax", (".msgpack",)),
    Format("zip", "zipped", ()),
)
"""Asked in this order; the first stands for formats that are recognised to be refused."""

HEAD = 4096
"""Bytes of a file that :meth:`Reader.sniff` sees."""


def checkpoint_of(path: Path | str) -> ModelValue:
    """Read the weights at *path* into a model: a file, the index of a sharded checkpoint, or a directory of either.

    Headers only; no weights are read and no code in them is run.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    path = place(path)
    return as_model(listing_at(path), str(path))


def listing_at(path: Path) -> Listing:
    """List the tensors at *path* as what they are: packed weights in the shapes of the weights.

    Raises:
        ReadError: As for :func:`checkpoint_of`.
    """
    return unpack(read_listing(path), config_beside(path))


def place(source: Path | str) -> Path:
    """Return where *source* is: a path on disk, or what answers like one for an address or a hub's id.

    >>> place("no/such/file.json")
    PosixPath('no/such/file.json')
    """
    if isinstance(source, str) and "/" in source:
        from weighbridge.readers import hub

        return hub.place(source)
    return Path(source) if isinstance(source, str) else source


def read_listing(path: Path) -> Listing:
    """List the tensors at *path*: a file of whatever format, an index, or a directory.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    from weighbridge.readers.adapter import adapter_config, with_notes
    from weighbridge.readers.directory import SHARD, list_directory, list_index
    from weighbridge.readers.onnx_pair import encoder_and_decoder, together
    from weighbridge.readers.zarr import is_zarr, list_zarr

    try:
        if path.is_dir():
            pair = encoder_and_decoder(path)
            if pair is not None:
                return together(read_file(pair[0]), read_file(pair[1]))
            config = adapter_config(path)
            listing = list_zarr(path) if isinstance(path, Path) and is_zarr(path) else list_directory(path)
            return listing if config is None else with_notes(listing, config)
        if path.name.endswith(".index.json"):
            return list_index(path)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", path=str(path)) from None
    listing = read_file(path)
    if SHARD.fullmatch(path.name):
        return listing._replace(notes=(*listing.notes, "this is one shard of several; its directory gives the whole"))
    return listing


def read_file(path: Path) -> Listing:
    """List the tensors of one file.

    Raises:
        ReadError: The file is damaged, or of a format that no reader knows.
    """
    try:
        with path.open("rb") as file:
            return list_open(file, path.name)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", path=str(path)) from None
    except ReadError as error:
        raise located(error, str(path)) from None


def list_open(file: BinaryIO, name: str) -> Listing:
    """List the tensors of an open file that can seek; *name* is asked if its first bytes tell nothing.

    >>> from io import BytesIO
    >>> list_open(BytesIO(bytes([2, 0, 0, 0, 0, 0, 0, 0]) + b"{}"), "empty.safetensors").tensors
    ()
    """
    head = file.read(HEAD)
    if not head:
        raise ReadError("the file is empty")
    known = [cast(Reader, import_module(f"weighbridge.readers.{entry.module}")) for entry in FORMATS]
    for reader in known:
        if reader.sniff(head):
            return reader.read(file)
    for entry, reader in zip(FORMATS, known, strict=True):
        if name.endswith(entry.endings):
            return reader.read(file)
    raise ReadError(f"no reader knows this format; known: {', '.join(entry.name for entry in FORMATS if entry.name)}")


def located(error: ReadError, path: str) -> ReadError:
    """Return *error* with the path it happened at, unless it names one."""
    if error.path:
        return error
    result = ReadError(str(error), path=path)
    result.offset = error.offset
    return result


def rows(listing: Listing) -> list[Row]:
    """Give each tensor of a listing its role: the row that the tree is folded from.

    >>> rows(Listing("safetensors", (Stored("ln.weight", "F32", (8,), 32), Stored("ln.bias", "F32", (8,), 32))))[1].role
    'shift'
    """
    gains = norms([(tensor.name, tensor.shape) for tensor in listing.tensors])
    return [
        Row(name, shape, role or role_of(name, shape, dtype, gains), tied_to, dtype, False)
        for name, dtype, shape, _, role, tied_to, _, _ in listing.tensors
    ]


def as_model(listing: Listing, source: str) -> ModelValue:
    """Fold a listing into a model."""
    tree = fold(sorted(rows(listing), key=_bias_last) if not listing.ordered else rows(listing), None if listing.ordered else rank)
    return ModelValue(source, "checkpoint", tree, notes=listing.notes, stored=listing.stored)


def _bias_last(row: Row) -> bool:
    return row.name.endswith((".bias", ".beta"))


__all__ = [
    "FORMATS",
    "Format",
    "Listing",
    "Stored",
    "as_model",
    "checkpoint_of",
    "list_open",
    "listing_at",
    "read_file",
    "read_listing",
    "rows",
]
