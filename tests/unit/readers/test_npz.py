from __future__ import annotations

import io
from typing import Any

import pytest

from tests.unit.readers.hostile import assert_robust, read_bytes
from weighbridge.core.errors import ReadError
from weighbridge.readers import list_open, npz
from weighbridge.readers.listing import Listing

np = pytest.importorskip("numpy")

ARRAYS: dict[str, Any] = {
    "Transformer/encoderblock_0/Dense_0/kernel": np.zeros((3, 4), np.float32),
    "Transformer/encoderblock_0/Dense_0/bias": np.zeros(4, np.float16),
    "scalar": np.float64(1),
    "empty": np.zeros((0, 7), np.float32),
    "Wörter.权重": np.zeros((2, 2), np.complex64),
    "fortran": np.asfortranarray(np.zeros((5, 3), np.float32)),
    "step": np.int64(3),
    "flags": np.zeros(3, bool),
    "bfloat16": np.zeros((2, 2), "V2"),
    "words": np.array(["ab", "c"]),
}


def npz_of(compressed: bool = False, **arrays: Any) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


SMALL = npz_of(a=np.zeros((3, 4), np.float32), b=np.zeros(5))


def assert_consistent(listing: Listing) -> None:
    assert len({tensor.name for tensor in listing.tensors}) == len(listing.tensors)
    assert all(type(size) is int and size >= 0 for tensor in listing.tensors for size in tensor.shape)


@pytest.mark.parametrize("compressed", [False, True])
def test_numpy_agrees_array_by_array(compressed: bool) -> None:
    data = npz_of(compressed, **ARRAYS)
    assert npz.sniff(data)
    listing = list_open(io.BytesIO(data), "m.npz")
    assert [(tensor.shape, tensor.size_bytes) for tensor in listing.tensors] == [(array.shape, array.nbytes) for array in ARRAYS.values()]
    assert {tensor.name: (tensor.dtype, tensor.role) for tensor in listing.tensors} == {
        "Transformer.encoderblock.0.Dense_0.kernel": ("F32", "weight"),
        "Transformer.encoderblock.0.Dense_0.bias": ("F16", "bias"),
        "scalar": ("F64", None),
        "empty": ("F32", None),
        "Wörter.权重": ("C64", None),
        "fortran": ("F32", None),
        "step": ("I64", "buffer"),
        "flags": ("BOOL", "buffer"),
        "bfloat16": ("V2", None),
        "words": ("STRING", "buffer"),
    }


def test_pickled_objects_stay_shut() -> None:
    listing = read_bytes(npz.read, npz_of(w=np.zeros(3, np.float32), o=np.array([print, {}], dtype=object)))
    assert [(tensor.name, tensor.dtype, tensor.role) for tensor in listing.tensors] == [("w", "F32", None), ("o", "OBJECT", "buffer")]


@pytest.mark.parametrize("compressed", [False, True])
def test_damage_is_refused_or_read_consistently(compressed: bool) -> None:
    data = npz_of(True, a=np.zeros((3, 4), np.float32), b=np.zeros(5)) if compressed else SMALL
    assert_robust(npz.read, data, check=assert_consistent)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"(3, 4)", b"(3, 5)", "'a' of shape [3, 5] takes 60 bytes; the archive has 48"),
        (b"(3, 4)", b"(3,-4)", "'a' has the shape (3, -4), which is impossible"),
        (b"'<f4'", b"'<f3'", "'a' is of type 'f3', which NumPy does not write"),
        (b"'<f4'", b"[1,2]", "'a' is of type [1, 2], a record or unknown"),
        (b"{'descr'", b"{{descr'", "the header of 'a' is damaged"),
        (b"NUMPY", b"NOMPY", "'a' does not start like an array"),
    ],
)
def test_what_cannot_be_is_refused(old: bytes, new: bytes, message: str) -> None:
    data = npz_of(a=np.zeros((3, 4), np.float32)).replace(old, new)
    with pytest.raises(ReadError) as caught:
        read_bytes(npz.read, data)
    assert str(caught.value) == message
