"""A safetensors file inside a zip: read in place, stored or deflated."""

from __future__ import annotations

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
