"""From the files of a checkpoint to its tensors: one file, the index of a sharded one, a directory; and from those to a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from weighbridge.core.errors import ReadError
from weighbridge.core.fold import fold, in_tree_order, refuse_doubles
from weighbridge.core.messages import Text
from weighbridge.core.tree import Row
from weighbridge.readers.adapter import BASE_MODEL, adapter_config, with_notes
from weighbridge.readers.coreml import list_package, package
from weighbridge.readers.directory import list_directory
from weighbridge.readers.distributed import is_distributed, list_distributed
from weighbridge.readers.formats import read_file
from weighbridge.readers.listing import Listing
from weighbridge.readers.onnx_pair import encoder_and_decoder, join_listings
from weighbridge.readers.openvino import check_values
from weighbridge.readers.packing import config_beside, is_packed, unpack
from weighbridge.readers.roles import norms, rank, role_of
from weighbridge.readers.shards import INDEXES, KERAS_SHARD, SHARD, list_index
from weighbridge.readers.training_roots import list_ranks, rank_files, step_folder
from weighbridge.readers.zarr import is_zarr, list_zarr
from weighbridge.value import ModelValue


def listing_at(path: Path) -> Listing:
    """List the tensors at *path* as what they are: packed weights in the shapes of the weights.

    Raises:
        ReadError: As for :func:`checkpoint_of`.
    """
    listing = read_listing(path)
    return unpack(listing, config_beside(path)) if is_packed(listing) else listing


def read_listing(path: Path) -> Listing:
    """List the tensors at *path*: a file of whatever format, an index, or a directory.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    try:
        if path.is_dir():
            pair = encoder_and_decoder(path)
            if pair is not None:
                return join_listings(read_file(pair[0]), read_file(pair[1]))
            config = adapter_config(path)
            listing = _list_directory(path)
            return listing if config is None else with_notes(listing, config)
        if path.name.endswith(INDEXES):
            return list_index(path)
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror or error), path=str(path)) from None
    listing = read_file(path)
    if listing.format == "openvino" and isinstance(path, Path):
        check_values(path, listing)
    if KERAS_SHARD.fullmatch(path.name):
        return listing._replace(notes=(*listing.notes, Text("this is one shard of several, and the others are not counted")))
    if SHARD.fullmatch(path.name):
        return listing._replace(notes=(*listing.notes, Text("this is one shard of several; its directory gives the whole")))
    return listing


def _list_directory(folder: Path) -> Listing:
    """List a directory as what it is: arrays, a distributed checkpoint, a training's ranks, or files of weights."""
    if isinstance(folder, Path):
        if is_zarr(folder):
            return list_zarr(folder)
        packaged = package(folder)
        if packaged is not None:
            return list_package(packaged)
        step = step_folder(folder) or folder
        if step is not folder and is_zarr(step):
            listing = list_zarr(step)
            return listing._replace(notes=(*listing.notes, Text("read from the last step, {step}", step=step.name)))
        if is_distributed(step):
            return list_distributed(step)
        ranks = rank_files(step)
        if ranks:
            return list_ranks(step, ranks)
        if step is not folder:
            return list_directory(step)
    return list_directory(folder)


def rows(listing: Listing) -> list[Row]:
    """Give each tensor of a listing its role: the row that the tree is folded from.

    >>> from weighbridge.readers.listing import StoredTensor
    >>> rows(Listing("safetensors", (StoredTensor("ln.weight", "F32", (8,), 32), StoredTensor("ln.bias", "F32", (8,), 32))))[1].role
    'shift'
    """
    gains = norms([(tensor.name, tensor.shape) for tensor in listing.tensors])
    return [
        _make(Row, (name, shape, role or role_of(name, shape, dtype, gains), tied_to, dtype, False))
        for name, dtype, shape, _, role, tied_to, _, _ in listing.tensors
    ]


_make = tuple.__new__
"""What a named tuple's constructor ends in: a large file has a hundred thousand tensors."""


def read_model(path: Path) -> tuple[ModelValue, str | None]:
    """Read what stands at *path* as a model; of an adapter, return also what it says is below it.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    listing = listing_at(path)
    base = listing.metadata.get(BASE_MODEL)
    return as_model(listing, str(path)), base if isinstance(base, str) else None


def as_model(listing: Listing, source: str) -> ModelValue:
    """Make a model of a listing; what needs no modules but only the tensors folds none."""
    found, by = (rows(listing), None) if listing.ordered else (sorted(rows(listing), key=_is_bias), rank)
    refuse_doubles(found)
    tree, listed = partial(fold, found, by), partial(in_tree_order, found, by)
    return ModelValue(source, "checkpoint", tree, rows=listed, notes=listing.notes, stored=listing.stored)


def _is_bias(row: Row) -> bool:
    return row.name.endswith((".bias", ".beta"))
