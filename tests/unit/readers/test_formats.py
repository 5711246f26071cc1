"""Files that other libraries wrote: every name, shape and type as their own library reads them back."""

from __future__ import annotations

import json
import struct
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.readers import as_model, ctranslate2, read_listing

FORMATS = Path(__file__).parents[2] / "corpus" / "formats"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FORMATS / "expected.json").read_text("utf-8"))
FILES = {name: said for group in EXPECTED.values() for name, said in group["files"].items()}
assert len(FILES) > 10

TYPES = {
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "bfloat16": "BF16",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint32": "U32",
    "bool": "BOOL",
    "string": "STRING",
}
ASIDE = (
    "state of the training",
    "a constant of the program",
    "a constant of the code",
    "optimizer state",
    "a copy of the embeddings, which the last pipeline stage keeps",
    "beside the model",
)


@pytest.mark.parametrize("name", sorted(FILES))
def test_as_its_own_library_says(name: str) -> None:
    listing = read_listing(FORMATS / name)
    found = {tensor.name: [list(tensor.shape), tensor.dtype] for tensor in listing.tensors if tensor.note not in ASIDE}
    assert found == {key: [shape, TYPES[dtype]] for key, (shape, dtype) in FILES[name].items()}


@pytest.mark.parametrize("name", ["dcp", "megatron", "zero2", "zero3", "tiny.nemo", "tiny.pt2", "tensors.pkl"])
def test_the_model_of_torch_is_counted_in_all_its_clothes(name: str) -> None:
    counts = tally_of(as_model(read_listing(FORMATS / name), name))
    assert counts.unique == 12 + 4 + 4 + 4 + 12
    assert sum(tensor.stored for tensor in read_listing(FORMATS / name).tensors) >= 4 + 4 + 1


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_deepspeed_says_which_tensors_are_buffers_and_which_are_one(stage: int) -> None:
    """Of ZeRO 3 no file holds the parameters: shapes, ties and buffers are what it states."""
    listing = read_listing(FORMATS / f"deepspeed-{stage}")
    assert tally_of(as_model(listing, "")).unique == 3 * 5 + 2 * 5 + 3 * 30
    model = [tensor for tensor in listing.tensors if tensor.note not in ASIDE]
    buffers = ["table", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert sorted(tensor.name for tensor in model if tensor.role == "buffer") == sorted(buffers)
    assert [(tensor.name, tensor.tied_to) for tensor in model if tensor.tied_to] == [("tied.weight", "embed.weight")]


def test_a_frozen_module_keeps_its_weights_in_its_constants() -> None:
    listing = read_listing(FORMATS / "frozen.pt")
    assert [(tensor.name, tensor.shape, tensor.role) for tensor in listing.tensors] == [
        ("CONSTANTS.c0", (4, 3), None),
        ("CONSTANTS.c1", (4,), None),
        ("CONSTANTS.c2", (3, 4), None),
        ("CONSTANTS.c3", (), "buffer"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [("tensor_meta", None), ("tensor_meta", {}), ("tensor_meta", [4]), ("is_param", ""), ("is_param", 1), (None, None), (None, 5)],
)
def test_a_damaged_entry_of_an_exported_program_is_no_missing_weight(tmp_path: Path, key: str | None, value: object) -> None:
    with zipfile.ZipFile(FORMATS / "tiny.pt2") as archive, zipfile.ZipFile(tmp_path / "x.pt2", "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("model_weights_config.json"):
                table = json.loads(data)
                entry = table["config"]["embed.weight"]
                table["config"]["embed.weight"] = value if key is None else {**entry, key: value}
                data = json.dumps(table).encode()
            copy.writestr(name, data)
    with pytest.raises(ReadError, match=r"embed\.weight"):
        read_listing(tmp_path / "x.pt2")


@pytest.mark.parametrize("kept", [(), ("embed.weight",)])
def test_bytes_of_a_weight_that_no_table_names_are_not_left_out_of_a_program(tmp_path: Path, kept: tuple[str, ...]) -> None:
    with zipfile.ZipFile(FORMATS / "tiny.pt2") as archive, zipfile.ZipFile(tmp_path / "x.pt2", "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("model_weights_config.json"):
                data = json.dumps(
                    {"config": {entry: value for entry, value in json.loads(data)["config"].items() if entry in kept}}
                ).encode()
            copy.writestr(name, data)
    with pytest.raises(ReadError, match="which the table of weights does not name"):
        read_listing(tmp_path / "x.pt2")


@pytest.mark.parametrize("encoding", ["x-nonsense", "rot13", "utf-7", "base64", "idna", "utf-16-le"])
def test_a_network_in_an_encoding_that_xml_does_not_have_is_refused(tmp_path: Path, encoding: str) -> None:
    text = (FORMATS / "openvino.xml").read_text("utf-8").replace('version="1.0"', f'version="1.0" encoding="{encoding}"', 1)
    (tmp_path / "x.xml").write_text(text, "utf-8")
    (tmp_path / "x.bin").write_bytes((FORMATS / "openvino.bin").read_bytes())
    with pytest.raises(ReadError, match="the XML is damaged"):
        read_listing(tmp_path / "x.xml")


def test_names_of_ctranslate2_that_differ_by_a_dot_in_place_of_a_slash_are_refused() -> None:
    """Both are written with a dot, and one name stood twice in the listing."""

    def text(words: str) -> bytes:
        return struct.pack("<H", len(words) + 1) + words.encode() + b"\0"

    def variable(name: str) -> bytes:
        return text(name) + struct.pack("<BIBI4x", 1, 1, 0, 4)

    def file(*names: str) -> BytesIO:
        return BytesIO(
            struct.pack("<I", 6) + text("Spec") + struct.pack("<II", 1, len(names)) + b"".join(map(variable, names)) + struct.pack("<I", 0)
        )

    assert [tensor.name for tensor in ctranslate2.read(file("a/b", "a/c")).tensors] == ["a.b", "a.c"]
    with pytest.raises(ReadError, match=r"'a\.b' occurs twice"):
        ctranslate2.read(file("a/b", "a.b"))
