"""The safetensors reader: what the format allows is listed, everything else is refused with its reason."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.core.tree import flatten
from weighbridge.load import checkpoint_of
from weighbridge.readers import read_listing, safetensors
from weighbridge.readers.listing import MOST_TENSORS

CORPUS = Path(__file__).parents[2] / "corpus" / "safetensors"
VALID = sorted((CORPUS / "valid").glob("*.safetensors"))
INVALID = sorted((CORPUS / "invalid").glob("*.safetensors"))
MESSAGES = json.loads((CORPUS / "messages.json").read_text("utf-8"))
assert VALID
assert INVALID
assert sorted(MESSAGES) == [path.stem for path in INVALID]


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_files_list_and_fold(path: Path) -> None:
    listing = read_listing(path)
    model = checkpoint_of(path)
    assert {row.name: row.shape for row in flatten(model.tree)} == {tensor.name: tensor.shape for tensor in listing.tensors}
    assert tally_of(model).stored == listing.stored
    assert listing.size_bytes == path.stat().st_size - 8 - int.from_bytes(path.read_bytes()[:8], "little")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_invalid_files_are_refused_with_their_reason(path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        read_listing(path)
    assert str(caught.value) == f"{path}: {MESSAGES[path.stem]}"
    assert caught.value.path == str(path)


def test_types_and_shapes_are_those_of_the_file() -> None:
    tensors = read_listing(CORPUS / "valid" / "sub_byte.safetensors").tensors
    assert [(tensor.name, tensor.dtype, tensor.shape, tensor.size_bytes) for tensor in tensors] == [
        ("a", "F4", (2, 3), 3),
        ("b", "F6_E2M3", (4,), 3),
        ("c", "F6_E3M2", (8,), 6),
    ]


def test_order_is_that_of_the_bytes() -> None:
    assert [tensor.name for tensor in read_listing(CORPUS / "valid" / "unordered.safetensors").tensors] == ["a", "b"]


def test_metadata_is_kept() -> None:
    assert read_listing(CORPUS / "valid" / "metadata.safetensors").metadata == {"format": "pt"}


def test_only_the_header_is_read(tmp_path: Path) -> None:
    """A sparse file of a terabyte lists at once, and no byte behind the header is asked for."""
    size = 1 << 40
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    path = tmp_path / "large.safetensors"
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    with open(path, "rb", buffering=0) as file:
        assert safetensors.read(file).tensors[0].shape == (size,)
        assert file.tell() == 8 + len(header)


def test_more_tensors_than_any_model_has_are_refused() -> None:
    header = b"{" + b",".join(b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % n for n in range(MOST_TENSORS + 1)) + b"}"
    with pytest.raises(ReadError, match="names more than 100,000 tensors"):
        safetensors.read(BytesIO(len(header).to_bytes(8, "little") + header))


def test_a_missing_file_and_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be read: No such file"):
        read_listing(tmp_path / "none.safetensors")
    (tmp_path / "text.xyz").write_bytes(b"hello")
    with pytest.raises(ReadError, match="no reader knows this format; known: safetensors"):
        read_listing(tmp_path / "text.xyz")


def test_headers_that_would_only_fill_the_memory_are_refused() -> None:
    with pytest.raises(ReadError, match="bytes that says almost nothing about tensors"):
        safetensors.parse(b'{"a":[' + b"[]," * 900_000 + b"[]]}", 0)


def long_header(text: bytes) -> bytes:
    return b'{"__metadata__":{"format":"pt","a":"' + text + b'"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'


@pytest.mark.parametrize("text", ["я".encode() * 8_100_000, b'\\"' * 3_000_000 + b"x" * 11_000_000], ids=["letters", "quotes"])
def test_a_long_text_is_passed_over(text: bytes) -> None:
    listing = safetensors.parse(long_header(text), 8)
    assert [tensor.name for tensor in listing.tensors] == ["w"]
    assert listing.metadata == {"format": "pt", "a": f"(a text of {len(text):,} bytes)"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"x" * 17_000_000 + b"\xff", "the header is not UTF-8"),
        (b"x" * 17_000_000 + b"\\x", "the header is not JSON: a damaged text"),
        (b"x" * 17_000_000 + b"\n", "the header is not JSON: a damaged text"),
        (b'","' + b"x" * 17_000_000 + b'":"', "the header has a name of 17,000,000 bytes"),
        (b'","b":' + b"1" * 17_000_000 + b',"c":"', "bytes in a row that are not text"),
    ],
    ids=["letters", "escape", "line", "name", "number"],
)
def test_a_long_text_must_be_a_text(text: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        safetensors.parse(long_header(text), 8)
