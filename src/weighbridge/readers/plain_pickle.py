"""Plain pickles that hold arrays or tensors: ``pickle.dump`` of a state dict, PaddlePaddle's ``.pdparams``, models of NumPy and JAX.

The pickle is interpreted by ``readers.pickles``, in which nothing can be called. The bytes of arrays are passed over, so a file of any size is
read by what stands between them. A tensor of torch brings its storage as a file of torch within the pickle.

Source: CPython 3.13, Lib/pickletools.py; torch 2.13.0, torch/storage.py (``_load_from_bytes``); paddle/python/paddle/framework/io.py
(``_pickle_save``: a tensor is the pair of its name and an array); jax/_src/array.py (``_reconstruct_array``)
"""

from __future__ import annotations

import re
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.readers.arrays import array_of
from weighbridge.readers.listing import Listing
from weighbridge.readers.pickle_values import Global, Makers, PagedFile, Raw, Source, Stub
from weighbridge.readers.pickles import load
from weighbridge.readers.torch_names import listing_of
from weighbridge.readers.torch_storages import MAKERS, Storage, storage_of

MOST_READ = 64_000_000
"""Bytes that a pickle may have beside those of its arrays."""

MOST_STEPS = 1_000_000
"""Operations of a pickle that is read page by page, which takes longer."""

FEW_STEPS = 10_000
_PADDLE_SLOT = re.compile(r".*_(moment[12]|beta[12]_pow_acc|velocity|mean_square|mean_grad|inf_norm|momentum)_\d+")


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as a pickle of protocol 2 or later does.

    >>> sniff(bytes([0x80, 4, 0x95])), sniff(bytes([0x80, 0, 0]))
    (True, False)
    """
    return len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5


def read(file: BinaryIO) -> Listing:
    """List the tensors and arrays in a pickle; it is interpreted, and nothing in it can run.

    Raises:
        ReadError: It is damaged, asks for too much, or holds no tensors.
    """
    return read_at(file, 0)


def read_at(file: BinaryIO, position: int) -> Listing:
    """List what the pickle holds that begins at a byte of a file."""
    data = PagedFile(file, MOST_READ)
    storages: set[str] = set()

    def torch_bytes(content: object) -> Storage:
        storage = _nested_storage(data, content, len(storages))
        storages.add(storage.key)
        return storage

    makers: Makers = {
        **MAKERS,
        **{Global(module, "tuple"): _pair for module in ("builtins", "__builtin__")},
        Global("torch.storage", "_load_from_bytes"): torch_bytes,
        Global("jax._src.array", "_reconstruct_array"): _jax,
        **{Global(f"{library}joblib.numpy_pickle", "NumpyArrayWrapper"): _joblib for library in ("", "sklearn.externals.")},
    }
    found, end = load(data, makers, _no_storage, position, most=MOST_STEPS)
    if end != len(data):
        raise ReadError("bytes follow the pickle, which belong to nothing in it", offset=end)
    listing = listing_of(found, {}, storages)
    tensors = tuple(
        tensor._replace(role="buffer", note="optimizer state") if _PADDLE_SLOT.fullmatch(tensor.name) else tensor
        for tensor in listing.tensors
    )
    return listing._replace(format="pickle", tensors=tensors)


def _nested_storage(data: Source, content: object, number: int) -> Storage:
    """Return the storage that a file of torch within the pickle is: of the format before 1.6, with one storage and nothing else."""
    position = 0
    if isinstance(content, Raw):
        position = content.begin
    else:
        if isinstance(content, Stub) and isinstance(content.args, tuple) and content.args and isinstance(content.args[0], str):
            content = content.args[0].encode("latin-1", "replace")
        if not isinstance(content, bytes):
            raise ReadError("a tensor in the pickle has no bytes; save it with torch.save")
        data = content
    for _ in range(3):
        _, position = load(data, {}, storage_of, position, most=FEW_STEPS)
    found, _ = load(data, {}, storage_of, position, most=FEW_STEPS)
    if not isinstance(found, Storage):
        raise ReadError("a tensor in the pickle has no storage")
    return found._replace(key=f"storage {number}")


def _no_storage(identity: object) -> object:
    raise ReadError("a pickle that refers to things outside it, which are not in the file")


def _pair(items: object = (), *_: object) -> object:
    """A tuple; one of a name and an array is a tensor of PaddlePaddle."""
    named = isinstance(items, tuple) and len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], Stub)
    return items[1] if named and isinstance(items, tuple) and array_of(items[1]) is not None else items


def _jax(maker: object, args: object, state: object, *_: object) -> object:
    """An array of JAX: NumPy's call, its arguments, and the state, side by side."""
    array = Stub(maker, args)
    array.state = state
    return array


def _joblib(*_: object) -> object:
    raise ReadError(
        "a file of joblib, whose arrays stand between pieces of a pickle; load it where it comes from and save its arrays with numpy.savez"
    )
