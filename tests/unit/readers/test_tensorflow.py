from __future__ import annotations

from math import prod
from struct import pack
from typing import Any

import pytest

from tests.unit.readers.hostile import assert_refused, assert_robust, read_bytes
from tests.unit.readers.real import packaged_file
from weighbridge import model
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.core.tree import flatten
from weighbridge.load import checkpoint_of
from weighbridge.readers import tensorflow
from weighbridge.readers.listing import Listing
from weighbridge.readers.tensorflow import MAGIC, crc32c


def varint(value: int) -> bytes:
    piece = b""
    while value > 127:
        piece, value = piece + bytes([value & 127 | 128]), value >> 7
    return piece + bytes([value])


def block(entries: list[tuple[bytes, bytes]]) -> bytes:
    """Write a block as table_builder does, keys sharing what they can, with one restart."""
    body, last = b"", b""
    for key, value in entries:
        shared = next((n for n, (a, b) in enumerate(zip(key, last, strict=False)) if a != b), min(len(key), len(last)))
        body += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return with_checksum(body + pack("<II", 0, 1))


def with_checksum(body: bytes) -> bytes:
    checksum = crc32c(body + b"\0")
    return body + b"\0" + pack("<I", ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def entry(shape: tuple[int, ...], kind: int = 1, bits: int = 32, more: bytes = b"") -> bytes:
    sizes = b"".join(b"\x12" + varint(len(size)) + size for size in (b"\x08" + varint(size) for size in shape))
    stored = 0 if more else prod(shape) * bits // 8
    return b"\x08" + varint(kind) + b"\x12" + varint(len(sizes)) + sizes + b"\x28" + varint(stored) + b"\x35" + bytes(4) + more


def index(entries: dict[str | bytes, bytes], each: int = 3) -> bytes:
    """Write an index whose blocks hold *each* entries."""
    keyed = {key.encode() if isinstance(key, str) else key: value for key, value in entries.items()}
    rows = sorted({b"": b"\x08\x01\x1a\x02\x08\x01", **keyed}.items())
    data, handles = b"", []
    for start in range(0, len(rows), each):
        piece = block(rows[start : start + each])
        handles.append((rows[start : start + each][-1][0] + b"~", varint(len(data)) + varint(len(piece) - 5)))
        data += piece
    meta = block([])
    footer = varint(len(data)) + varint(len(meta) - 5)
    top = block(handles)
    footer += varint(len(data) + len(meta)) + varint(len(top) - 5)
    return data + meta + top + footer.ljust(40, b"\0") + MAGIC


def bert() -> dict[str | bytes, bytes]:
    """Return the entries of Google's bert_model.ckpt, names and shapes as its release has them."""
    rows = model("bert-base-uncased", model_class="BertForPreTraining").tensors("tensorflow")
    return {row.name: entry(row.shape) for row in rows if not row.tied_to and row.role != "buffer"}  # type: ignore[arg-type]


SMALL = index(
    {
        "layer-0/kernel/.ATTRIBUTES/VARIABLE_VALUE": entry((3, 4)),
        "layer-0/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE": entry((3, 4)),
        "layer-0/bias/.ATTRIBUTES/VARIABLE_VALUE": entry((4,), 14, 16),
        "scalar": entry(()),
        "Wörter/权重": entry((0, 7)),
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE": entry((), 9, 64),
    }
)


def assert_consistent(listing: Listing) -> None:
    assert len({tensor.name for tensor in listing.tensors}) == len(listing.tensors)
    assert all(type(size) is int and size >= 0 for tensor in listing.tensors for size in tensor.shape)


def tensors_of(listing: Listing) -> dict[str, Any]:
    return {tensor.name: (tensor.shape, tensor.role) for tensor in listing.tensors}


def test_variables_and_what_the_optimizer_keeps() -> None:
    assert tensorflow.sniff(SMALL)
    listing = read_bytes(tensorflow.read, SMALL)
    assert tensors_of(listing) == {
        "layer-0.kernel": ((3, 4), "weight"),
        "layer-0.kernel.OPTIMIZER_SLOT.optimizer.m": ((3, 4), "buffer"),
        "layer-0.bias": ((4,), "bias"),
        "scalar": ((), None),
        "Wörter.权重": ((0, 7), None),
        "save_counter": ((), "buffer"),
    }
    assert listing.notes == (
        "the values lie in 1 data shard beside the index, not opened",
        "2 tensors with 13 elements belong to the optimizer, not to the model",
    )


def test_googles_bert_has_the_reference_librarys_names(tmp_path: Any) -> None:
    """The published bert_model.ckpt: the pre-training tensors, with Adam's slots where it was not stripped."""
    entries = bert()
    path = tmp_path / "bert_model.ckpt.index"
    slots: dict[str | bytes, bytes] = {f"{name!s}/adam_m": value for name, value in entries.items()}
    path.write_bytes(index({**entries, **slots, "global_step": entry((), 9, 64)}))
    listing = checkpoint_of(path)
    assert tally_of(listing).unique == 110_106_428
    ours = {row.name: row.shape for row in flatten(listing.tree) if row.role != "buffer"}
    truth = model("bert-base-uncased", model_class="BertForPreTraining").tensors()
    assert ours == {row.name: row.shape for row in truth if not row.tied_to}


def test_variables_in_slices_add_up() -> None:
    cut = entry((10, 4), more=b"\x3a\x00\x3a\x00")
    data = index({"table": cut, b"\0\1table\1": entry((6, 4)), b"\0\1table\2": entry((4, 4))})
    assert tensors_of(read_bytes(tensorflow.read, data)) == {"table": ((10, 4), None)}
    with pytest.raises(ReadError, match="the tensors that were cut take 160 bytes, and their slices 96"):
        read_bytes(tensorflow.read, index({"table": cut, b"\0\1table\1": entry((6, 4))}))


def test_damage_is_refused_or_read_consistently() -> None:
    assert_robust(tensorflow.read, SMALL, check=assert_consistent)


def test_damage_below_the_checksums_too() -> None:
    inner = block([(b"", b"\x08\x01\x1a\x02\x08\x01"), (b"kernel", entry((3, 4))), (b"kernel/adam_m", entry((3, 4)))])[:-5]

    def read(file: Any) -> Listing:
        body = with_checksum(file.read())
        top = block([(b"~", varint(0) + varint(len(body) - 5))])
        footer = varint(0) + varint(0) + varint(len(body)) + varint(len(top) - 5)
        return read_bytes(tensorflow.read, body + top + footer.ljust(40, b"\0") + MAGIC)  # type: ignore[no-any-return]

    assert len(read_bytes(read, inner).tensors) == 2
    assert_robust(read, inner, check=assert_consistent)


def test_what_cannot_be_is_refused() -> None:
    assert_refused(
        tensorflow.read, b"", "a file of 0 bytes is no index of a checkpoint; its index is the file that ends in .index (at byte 0)"
    )
    assert_refused(
        tensorflow.read,
        SMALL[:-1],
        f"it does not end as the index of a checkpoint does; it may be cut off, or a data shard (at byte {len(SMALL) - 9:,})",
    )
    with pytest.raises(ReadError, match="a block does not fit its checksum"):
        read_bytes(tensorflow.read, SMALL.replace(b"scalar", b"scalaR"))
    with pytest.raises(ReadError, match=r"'w' of shape \[2, 3\] and type F32 takes 24 bytes; the index gives 8"):
        read_bytes(tensorflow.read, index({"w": entry((2, 3)).replace(b"\x28\x18", b"\x28\x08")}))


def test_a_real_saved_model() -> None:
    path = packaged_file("basic_pitch", "saved_models/icassp_2022/nmp/variables/variables.index")
    with path.open("rb") as file:
        listing = tensorflow.read(file)
    assert sum(prod(tensor.shape) for tensor in listing.tensors) == 50_442
    assert tally_of(checkpoint_of(path)).unique == 16_782
    assert listing.notes[1] == "41 tensors with 33,569 elements belong to the optimizer, not to the model"
