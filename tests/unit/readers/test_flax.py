from __future__ import annotations

from math import prod
from typing import Any

import pytest

from tests.unit.readers.hostile import assert_refused, assert_robust, read_bytes
from weighbridge.core.errors import ReadError
from weighbridge.readers import flax
from weighbridge.readers.listing import Listing


def text(value: str) -> bytes:
    raw = value.encode()
    return (bytes([0xA0 + len(raw)]) if len(raw) < 32 else b"\xd9" + bytes([len(raw)])) + raw


def number(value: int) -> bytes:
    return bytes([value]) if value < 128 else b"\xce" + value.to_bytes(4, "big")


def array(*shape: int, dtype: str = "float32", size: int = 4, tag: int = 1) -> bytes:
    """Write an array as flax.serialization does."""
    data = prod(shape) * size
    inner = (
        b"\x93" + bytes([0x90 + len(shape)]) + b"".join(map(number, shape)) + text(dtype) + b"\xc6" + data.to_bytes(4, "big") + bytes(data)
    )
    if len(inner) in (1, 2, 4, 8, 16):
        return bytes([0xD4 + len(inner).bit_length() - 1, tag]) + inner
    return b"\xc9" + len(inner).to_bytes(4, "big") + bytes([tag]) + inner


def pack(value: Any) -> bytes:
    if isinstance(value, dict):
        return b"\xde" + len(value).to_bytes(2, "big") + b"".join(text(key) + pack(inner) for key, inner in value.items())
    if isinstance(value, list):
        return bytes([0x90 + len(value)]) + b"".join(map(pack, value))
    if isinstance(value, str):
        return text(value)
    return number(value) if isinstance(value, int) else value


MODEL = {
    "params": {
        "wte": {"embedding": array(7, 4)},
        "h": {"0": {"ln": {"scale": array(4), "bias": array(4)}, "c": {"kernel": array(4, 8, dtype="bfloat16", size=2)}}},
    },
    "batch_stats": {"bn": {"mean": array(3)}},
    "opt_state": [{"mu": {"kernel": array(4, 8)}, "count": array(dtype="int32", tag=3)}],
    "step": 7,
    "权重": array(0, 5),
    "note": "x",
}
SMALL = pack(MODEL)


def assert_consistent(listing: Listing) -> None:
    assert len({tensor.name for tensor in listing.tensors}) == len(listing.tensors)
    assert all(type(size) is int and size >= 0 for tensor in listing.tensors for size in tensor.shape)


def test_paths_become_names_and_the_optimizer_stays_apart() -> None:
    assert flax.sniff(SMALL)
    listing = read_bytes(flax.read, SMALL)
    assert [(tensor.name, tensor.dtype, tensor.shape, tensor.role) for tensor in listing.tensors] == [
        ("wte.embedding", "F32", (7, 4), "embedding"),
        ("h.0.ln.scale", "F32", (4,), "gain"),
        ("h.0.ln.bias", "F32", (4,), "shift"),
        ("h.0.c.kernel", "BF16", (4, 8), "weight"),
        ("batch_stats.bn.mean", "F32", (3,), "buffer"),
        ("opt_state.0.mu.kernel", "F32", (4, 8), "buffer"),
        ("opt_state.0.count", "I32", (), "buffer"),
        ("权重", "F32", (0, 5), None),
    ]
    assert listing.notes == ("2 arrays with 33 elements are the optimizer's, no parameters",)


def test_an_array_in_chunks_is_one() -> None:
    chunked = {"__msgpack_chunked_array__": b"\xc3", "shape": {"0": 6, "1": 4}, "chunks": {"0": array(20), "1": array(4)}}
    listing = read_bytes(flax.read, pack({"w": chunked}))
    assert [(tensor.name, tensor.shape, tensor.size_bytes) for tensor in listing.tensors] == [("w", (6, 4), 96)]
    chunked["chunks"] = {"0": array(20)}
    with pytest.raises(ReadError, match=r"the chunks of 'w' do not make up its shape \[6, 4\]"):
        read_bytes(flax.read, pack({"w": chunked}))


def test_damage_is_refused_or_read_consistently() -> None:
    assert_robust(flax.read, SMALL, check=assert_consistent)


def test_what_cannot_be_is_refused() -> None:
    assert_refused(flax.read, b"\xc0", "it does not begin with a map (at byte 0)")
    assert_refused(flax.read, SMALL + b"\0", f"1 bytes follow the map (at byte {len(SMALL):,})")
    assert_refused(flax.read, b"\xdf\xff\xff\xff\xff", "the file ends inside the value: 1 bytes wanted, 0 left (at byte 5)")
    assert_refused(
        flax.read,
        b"\x81\xa1w\xc9\xff\xff\xff\xff\x01",
        "the file ends inside the array 'w': 4,294,967,295 bytes wanted, 0 left (at byte 9)",
    )
    with pytest.raises(ReadError, match="maps nested more than 64 deep"):
        read_bytes(flax.read, b"\x81\xa1a" * 100_000)
    with pytest.raises(ReadError, match="lists nested more than 64 deep"):
        read_bytes(flax.read, b"\x81\xa1a" + b"\x91" * 100_000)
    with pytest.raises(ReadError, match=r"the array 'w' of shape \[9\] and type float32 takes 36 bytes; it has 32"):
        read_bytes(flax.read, pack({"w": array(8).replace(b"\x91\x08", b"\x91\x09")}))


@pytest.mark.parametrize(
    ("head", "yes"),
    [(b"\x81\xa6params", True), (b"\x80\x02}", False), (b"\x81", False), (b"", False), (b"\x81\xa3a b", False), (b"PK\x03\x04", False)],
)
def test_sniffing(head: bytes, yes: bool) -> None:
    assert flax.sniff(head) is yes


def test_the_format_by_its_own_library() -> None:
    """MessagePack's own writer gives what the reader reads; Flax's extension is written on top of it."""
    msgpack, np = pytest.importorskip("msgpack"), pytest.importorskip("numpy")

    def extension(value: Any) -> Any:
        return msgpack.ExtType(1, msgpack.packb((value.shape, value.dtype.name, value.tobytes()), use_bin_type=True))

    shapes = {"a": (), "b": (3,), "c": (0, 2), "d": (300, 70), "é": (1, 1, 1, 1)}
    data = msgpack.packb({"x" * 40: {name: np.zeros(shape, np.float16) for name, shape in shapes.items()}}, default=extension)
    listing = read_bytes(flax.read, data)
    assert {tensor.name.partition(".")[2]: tensor.shape for tensor in listing.tensors} == shapes
