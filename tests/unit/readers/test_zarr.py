from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.load import checkpoint_of
from weighbridge.readers import read_listing
from weighbridge.readers.ocdbt import _Database, _Place

CORPUS = Path(__file__).parents[2] / "corpus" / "formats"


def old(folder: Path, name: str, *shape: int, dtype: str = "<f4") -> None:
    place = folder / name
    place.mkdir(parents=True)
    stated = {
        "zarr_format": 2,
        "shape": shape,
        "dtype": dtype,
        "chunks": shape,
        "compressor": None,
        "fill_value": None,
        "filters": None,
        "order": "C",
    }
    (place / ".zarray").write_text(json.dumps(stated))
    (place / "0.0").write_bytes(b"chunk")


def new(folder: Path, name: str, *shape: int, dtype: str = "float32", kind: str = "array") -> None:
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    stated: dict[str, Any] = {"zarr_format": 3, "node_type": kind}
    (place / "zarr.json").write_text(json.dumps(stated | ({"shape": shape, "data_type": dtype} if kind == "array" else {})))


def test_an_orbax_checkpoint_of_the_second_version(tmp_path: Path) -> None:
    old(tmp_path, "params.layer_0.dense.kernel", 3, 4, dtype="bfloat16")
    old(tmp_path, "params.layer_0.dense.bias", 4)
    old(tmp_path, "opt_state.0.mu.kernel", 3, 4)
    old(tmp_path, "step", dtype="<i4")
    (tmp_path / "_METADATA").write_text("{}")
    listing = read_listing(tmp_path)
    assert {tensor.name: (tensor.dtype, tensor.shape, tensor.role) for tensor in listing.tensors} == {
        "layer_0.dense.kernel": ("BF16", (3, 4), "weight"),
        "layer_0.dense.bias": ("F32", (4,), "bias"),
        "opt_state.0.mu.kernel": ("F32", (3, 4), "buffer"),
        "step": ("I32", (), "buffer"),
    }
    assert listing.notes == ("1 arrays with 12 elements are the optimizer's, no parameters",)
    assert tally_of(checkpoint_of(tmp_path)).unique == 16


def test_groups_of_the_third_version(tmp_path: Path) -> None:
    new(tmp_path, "", kind="group")
    new(tmp_path, "encoder", kind="group")
    new(tmp_path, "encoder/kernel", 5, 6, dtype="float16")
    new(tmp_path, "scalar", dtype="float64")
    new(tmp_path, "empty", 0, 3)
    listing = read_listing(tmp_path)
    assert {tensor.name: (tensor.shape, tensor.size_bytes) for tensor in listing.tensors} == {
        "encoder.kernel": ((5, 6), 60),
        "scalar": ((), 8),
        "empty": ((0, 3), 0),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ('{"zarr_format": 3}', "zarr_format is 3, expected 2"),
        ('{"zarr_format": 2, "dtype": "<f4", "shape": [-1]}', r"the shape \[-1\] is impossible"),
        ('{"zarr_format": 2, "dtype": "<x4", "shape": [1]}', "the type '<x4' is not known"),
        ('{"zarr_format": 2.0, "dtype": "<f4", "shape": [1]}', "zarr_format is 2.0, expected 2"),
        ('{"zarr_format": 2, "dtype": "<f\u0664", "shape": [1]}', "the type '<f\u0664' is not known"),
        (
            '{"zarr_format": 2, "dtype": "<f4", "shape": [1099511627776, 1099511627776]}',
            r"w has the shape \[1099511627776, 1099511627776\], which no",
        ),
        ('{"zarr_format": 2, "dtype": ["a"], "shape": [1]}', r"the type \['a'\] is not known"),
    ],
)
def test_damaged_metadata_is_refused(tmp_path: Path, text: str, message: str) -> None:
    old(tmp_path, "w", 3)
    (tmp_path / "w" / ".zarray").write_text(text)
    with pytest.raises(ReadError, match=message):
        read_listing(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x", "manifest.ocdbt is not a node of an OCDBT database"),
        (b"\x0c\xdb:*" + (20).to_bytes(8, "little") + bytes([1, 0]) + bytes(6), "an OCDBT database of version 1, compression 0"),
        (b"\x0c\xdb:*" + (19).to_bytes(8, "little") + bytes([0, 1]) + bytes(5), "a node of the OCDBT database is damaged"),
        (b"\x0c\xdb:*" + (18).to_bytes(8, "little") + bytes([0, 0]) + bytes(4), "a node of the OCDBT database is cut off"),
    ],
)
def test_a_damaged_database_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "_METADATA").write_text("{}")
    (tmp_path / "manifest.ocdbt").write_bytes(data)
    with pytest.raises(ReadError, match=message):
        read_listing(tmp_path)


def test_every_damage_of_a_database_is_refused_or_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    copy = tmp_path / "copy"
    shutil.copytree(CORPUS / "ocdbt", copy)
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 20)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
            with suppress(ReadError):
                read_listing(copy)
        path.write_bytes(whole[: len(whole) // 2])
        with suppress(ReadError):
            read_listing(copy)
        path.write_bytes(whole)
    assert len(read_listing(copy).tensors) == 12


@pytest.mark.parametrize("offset", [1 << 40, (1 << 64) - 1])
def test_a_node_that_lies_beyond_its_file_is_refused(offset: int, tmp_path: Path) -> None:
    (tmp_path / "d").write_bytes(bytes(100))
    with pytest.raises(ReadError, match="d ends before what the OCDBT database says is in it"):
        _Database(tmp_path).read_at(_Place("d", "", offset, 10))
