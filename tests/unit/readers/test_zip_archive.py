"""A safetensors file inside a zip: read in place, stored or deflated."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from weighbridge.core.errors import ReadError
from weighbridge.readers import list_open

FILE = Path(__file__).parents[2] / "corpus" / "safetensors" / "valid" / "metadata.safetensors"


def zip_of(method: int, **members: bytes) -> BytesIO:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("README.md", "a model")
        for name, content in members.items():
            archive.writestr(f"model/{name}.safetensors", content)
    file.seek(0)
    return file


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_one_file(method: int) -> None:
    listing = list_open(zip_of(method, model=FILE.read_bytes()), "model.zip")
    assert [(tensor.name, tensor.shape) for tensor in listing.tensors] == [("w", (3, 4))]
    assert listing.notes == ("read inside an archive: model/model.safetensors",)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_inner_file_is_held_to_its_format(method: int) -> None:
    with pytest.raises(ReadError, match="the tensors take 48 bytes and 47 follow the header; the file is cut off"):
        list_open(zip_of(method, model=FILE.read_bytes()[:-1]), "model.zip")


def test_none_and_several() -> None:
    with pytest.raises(ReadError, match="an archive without a safetensors file"):
        list_open(zip_of(zipfile.ZIP_STORED), "model.zip")
    with pytest.raises(ReadError, match="an archive with 2 safetensors files"):
        list_open(zip_of(zipfile.ZIP_STORED, a=b"", b=b""), "model.zip")


def test_every_truncation() -> None:
    whole = zip_of(zipfile.ZIP_DEFLATED, model=FILE.read_bytes()).getvalue()
    for length in range(1, len(whole)):
        with pytest.raises(ReadError):
            list_open(BytesIO(whole[:length]), "model.zip")


@pytest.mark.parametrize("offset", [1 << 40, (1 << 64) - 1])
def test_a_member_without_bytes_that_lies_beyond_the_file(offset: int) -> None:
    """In the directory's 64-bit field, beyond the signed range of a place in a file too."""
    whole = zip_of(zipfile.ZIP_STORED, model=b"").getvalue()
    start, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    at = whole.rindex(b"PK\x01\x02")
    name = whole[at + 46 : end]
    entry = whole[at : at + 30] + struct.pack("<H", 12) + whole[at + 32 : at + 42] + b"\xff" * 4 + name + struct.pack("<HHQ", 1, 8, offset)
    directory = whole[start:at] + entry
    tail = whole[end : end + 12] + struct.pack("<I", len(directory)) + whole[end + 16 :]
    with pytest.raises(ReadError, match="reaches beyond the archive's members"):
        list_open(BytesIO(whole[:start] + directory + tail), "model.zip")
