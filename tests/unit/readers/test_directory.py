"""Directories: one model is counted; twins, stale copies and strays are named, missing pieces refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import weighbridge
from tests.unit import safetensors_file
from tests.unit.readers.test_tensorflow import SMALL as tensorflow_index
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.load import checkpoint_of
from weighbridge.readers import read_listing


def write(path: Path, **shapes: tuple[int, ...]) -> int:
    """Write a sparse safetensors file of bytes; returns how many bytes its tensors have."""
    return safetensors_file.write(path, shapes, "F8_E4M3", 1)


def index(folder: Path, total_size: object = None, **weight_map: str) -> None:
    metadata = {} if total_size is None else {"total_size": total_size}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": metadata, "weight_map": weight_map}))


def two_shards(folder: Path) -> None:
    write(folder / "model-00001-of-00002.safetensors", a=(2, 3))
    write(folder / "model-00002-of-00002.safetensors", b=(4,))


def refusal(folder: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_listing(folder)
    return str(caught.value).removeprefix(str(folder)).lstrip("/: ")


def test_shards_by_their_index(tmp_path: Path) -> None:
    two_shards(tmp_path)
    index(tmp_path, 10, a="model-00001-of-00002.safetensors", b="model-00002-of-00002.safetensors")
    model = checkpoint_of(tmp_path)
    assert (tally_of(model).stored, model.notes, model.kind) == (10, (), "checkpoint")
    assert weighbridge.count(tmp_path / "model.safetensors.index.json").stored == 10


def test_a_directory_without_a_config_counts_its_weights(tmp_path: Path) -> None:
    two_shards(tmp_path)
    model = weighbridge.model(tmp_path)
    assert (model.kind, tally_of(model).unique) == ("checkpoint", 10)


def test_a_config_without_a_blueprint_counts_the_weights(tmp_path: Path) -> None:
    two_shards(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "never-heard-of"}')
    model = weighbridge.model(tmp_path)
    assert (model.kind, tally_of(model).unique) == ("checkpoint", 10)
    assert "unknown model type 'never-heard-of'" in model.notes[0]


def test_one_shard_alone_says_so(tmp_path: Path) -> None:
    two_shards(tmp_path)
    model = weighbridge.model(tmp_path / "model-00001-of-00002.safetensors")
    assert model.notes == ("this is one shard of several; its directory gives the whole",)


def test_missing_shards(tmp_path: Path) -> None:
    write(tmp_path / "model-00002-of-00003.safetensors", a=(2,))
    assert refusal(tmp_path) == "model-*-of-00003.safetensors: 2 of 3 shards are missing: number 1, 3"
    index(tmp_path, a="model-00002-of-00003.safetensors", b="model-00001-of-00003.safetensors")
    assert refusal(tmp_path) == "model.safetensors.index.json: 1 of 2 shards are missing: model-00001-of-00003.safetensors"


def test_a_tensor_that_is_not_where_the_index_says(tmp_path: Path) -> None:
    two_shards(tmp_path)
    index(tmp_path, a="model-00001-of-00002.safetensors", c="model-00002-of-00002.safetensors")
    assert refusal(tmp_path).endswith("1 tensors are not in the shards the index gives them: c in model-00002-of-00002.safetensors")


def test_a_doubled_tensor_is_counted_where_the_index_places_it(tmp_path: Path) -> None:
    write(tmp_path / "model-00001-of-00002.safetensors", a=(2, 3))
    write(tmp_path / "model-00002-of-00002.safetensors", a=(2, 3), b=(4,))
    assert "a is in two shards, model-00001-of-00002.safetensors and model-00002-of-00002.safetensors" in refusal(tmp_path)
    index(tmp_path, a="model-00001-of-00002.safetensors", b="model-00002-of-00002.safetensors")
    model = checkpoint_of(tmp_path)
    assert tally_of(model).stored == 10
    assert model.notes == ("1 tensors with 6 elements are in shards where the index does not place them and were not counted: a",)


def test_a_wrong_total_size_is_told_and_not_believed(tmp_path: Path) -> None:
    two_shards(tmp_path)
    index(tmp_path, 333, a="model-00001-of-00002.safetensors", b="model-00002-of-00002.safetensors")
    model = checkpoint_of(tmp_path)
    assert tally_of(model).stored == 10
    assert model.notes == ("the index claims a total_size of 333; the shards hold 10 bytes",)


def test_twins_and_stale_files_are_named_and_not_summed(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", a=(2, 3))
    write(tmp_path / "consolidated.safetensors", a=(2, 3))
    write(tmp_path / "old.safetensors", a=(2, 3))
    write(tmp_path / "model.fp16.safetensors", a=(2, 3))
    (tmp_path / "2_Dense").mkdir()
    write(tmp_path / "2_Dense" / "model.safetensors", w=(5,))
    model = checkpoint_of(tmp_path)
    assert tally_of(model).stored == 6
    assert model.notes == (
        "consolidated.safetensors lies beside model.safetensors and was not counted",
        "old.safetensors lies beside model.safetensors and was not counted",
        "2_Dense holds weights of its own, which were not counted",
    )


def test_a_shard_that_the_index_does_not_name_is_told(tmp_path: Path) -> None:
    two_shards(tmp_path)
    index(tmp_path, a="model-00001-of-00002.safetensors")
    listing = read_listing(tmp_path)
    assert [tensor.name for tensor in listing.tensors] == ["a"]
    assert listing.notes == (
        "1 shards lie beside those of the index, which does not name them, and were not counted: model-00002-of-00002.safetensors",
    )


def test_nothing_and_too_much(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "the directory holds no weights; name one with a checkpoint in it, or a config.json"
    (tmp_path / "unet").mkdir()
    write(tmp_path / "unet" / "x.safetensors", a=(1,))
    assert refusal(tmp_path) == "the directory holds no weights; weights lie in unet: name one"
    write(tmp_path / "x.safetensors", a=(1,))
    write(tmp_path / "y.safetensors", a=(1,))
    assert refusal(tmp_path) == "the directory holds 2 checkpoints (x.safetensors, y.safetensors); name one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the index is not an object with an entry for each name (at byte 0)"),
        ('{"weight_map": []}', "an index needs a weight_map from each tensor's name to a file"),
        ('{"weight_map": {"a": "../b.safetensors"}}', "the index names '../b.safetensors', which is not in this directory"),
        ('{"weight_map": {"a": "b", "a": "c"}}', "the index has the key 'a' twice"),
    ],
)
def test_damaged_indexes(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    assert refusal(tmp_path) == f"model.safetensors.index.json: {message}"


def test_a_terabyte_in_200_shards(tmp_path: Path) -> None:
    """Sparse files, so that only headers exist; a loose bound on time, the benchmark measures it."""
    weight_map: dict[str, str] = {}
    for n in range(1, 201):
        name = f"model-{n:05}-of-00200.safetensors"
        shapes = {f"layers.{n}.{k}.weight": (25, 1_000_000_000 // 5) for k in "a"}
        write(tmp_path / name, **shapes)
        weight_map |= dict.fromkeys(shapes, name)
    index(tmp_path, 200 * 5_000_000_000, **weight_map)
    begin = time.perf_counter()
    model = checkpoint_of(tmp_path)
    assert time.perf_counter() - begin < 10
    assert (tally_of(model).stored, model.notes) == (10**12, ())


def test_a_link_that_leads_nowhere_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", w=(2, 3))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "other.safetensors").symlink_to("other.safetensors")
    assert tally_of(checkpoint_of(tmp_path)).unique == 6


def test_the_root_of_a_saved_model_is_read_by_its_variables(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x00")
    (tmp_path / "variables").mkdir()
    (tmp_path / "variables" / "variables.index").write_bytes(tensorflow_index)
    model = checkpoint_of(tmp_path)
    assert tally_of(model).unique == 17
    assert model.notes[-1] == "the variables of a SavedModel, read from variables/variables.index"
