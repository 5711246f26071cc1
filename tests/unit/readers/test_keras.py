from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.keras_folders import draw_folder
from tests.unit.readers.hostile import read_bytes
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.load import checkpoint_of
from weighbridge.readers import keras, list_open, read_listing

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")


def file_of(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        for name, array in arrays.items():
            opened[name] = array
    return file.getvalue()


LEGACY = {
    "model_weights/dense/dense/kernel:0": np.zeros((3, 4), np.float32),
    "model_weights/dense/dense/bias:0": np.zeros(4, np.float32),
    "model_weights/bn/bn/gamma:0": np.zeros(4, np.float16),
    "model_weights/bn/bn/moving_mean:0": np.zeros(4, np.float32),
    "model_weights/emb/词/embeddings:0": np.zeros((0, 4), np.float32),
    "model_weights/bert/layer_._0/scalar:0": np.float32(1),
    "optimizer_weights/Adam/m/dense/kernel:0": np.zeros((3, 4), np.float32),
    "optimizer_weights/Adam/iter:0": np.int64(1),
}
LATER = {
    "layers/dense/vars/0": np.zeros((3, 4), np.float32),
    "layers/batch_normalization/vars/0": np.zeros(4, np.float32),
    "layers/batch_normalization/vars/2": np.zeros(4, np.float32),
    "optimizer/vars/0": np.int64(3),
    "seed_generator/vars/0": np.zeros(2, np.uint32),
}


def tensors_of(data: bytes) -> dict[str, Any]:
    return {tensor.name: (tensor.shape, tensor.role) for tensor in read_bytes(keras.read, data).tensors}


def test_a_whole_model_in_hdf5() -> None:
    data = file_of(LEGACY)
    assert keras.sniff(data)
    assert tensors_of(data) == {
        "dense.dense.kernel": ((3, 4), "weight"),
        "dense.dense.bias": ((4,), "bias"),
        "bn.bn.gamma": ((4,), "gain"),
        "bn.bn.moving_mean": ((4,), "buffer"),
        "emb.词.embeddings": ((0, 4), "embedding"),
        "bert.layer.0.scalar": ((), None),
        "optimizer_weights.Adam.m.dense.kernel": ((3, 4), "buffer"),
        "optimizer_weights.Adam.iter": ((), "buffer"),
    }
    assert read_bytes(keras.read, data).notes == ("2 arrays with 13 elements are the optimizer's, no parameters",)


def test_every_array_that_h5py_sees() -> None:
    data = file_of(LEGACY)
    seen = []
    with h5py.File(io.BytesIO(data)) as opened:
        opened.visititems(
            lambda name, item: seen.append((item.shape, item.dtype.itemsize * item.size)) if isinstance(item, h5py.Dataset) else None
        )
    assert [(tensor.shape, tensor.size_bytes) for tensor in read_bytes(keras.read, data).tensors] == seen


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_keras_archive(method: int, tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("metadata.json", "{}")
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", file_of(LATER))
    assert tensors_of(path.read_bytes()) == {
        "layers.dense.vars.0": ((3, 4), None),
        "layers.batch_normalization.vars.0": ((4,), None),
        "layers.batch_normalization.vars.2": ((4,), "buffer"),
        "optimizer.vars.0": ((), "buffer"),
        "seed_generator.vars.0": ((2,), "buffer"),
    }
    assert tally_of(checkpoint_of(path)).unique == 16


def test_two_names_of_one_array_are_a_tie_and_cycles_end() -> None:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened["a/kernel"] = np.zeros((3, 4), np.float32)
        opened["b"] = opened["a/kernel"]
        opened["a/again"] = opened["a"]
    listing = read_bytes(keras.read, file.getvalue())
    assert [(tensor.name, tensor.tied_to, tensor.stored) for tensor in listing.tensors] == [("a.kernel", None, 12), ("b", "a.kernel", 0)]


def test_other_names_within_the_file_are_ties() -> None:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened["z/kernel"] = np.zeros((3, 4), np.float32)
        opened["a"] = h5py.SoftLink("/z/kernel")  # stands before what it leads to
        opened["z/near"] = h5py.SoftLink("kernel")
        opened["z/far"] = h5py.SoftLink("/whole/near")  # through a link to the group, to a link in it
        opened["whole"] = h5py.SoftLink("/z")
        opened["b"] = np.zeros(2, np.float32)
    listing = read_bytes(keras.read, file.getvalue())
    found = {tensor.name: (tensor.shape, tensor.tied_to, tensor.stored) for tensor in listing.tensors}
    tie = ((3, 4), "z.kernel", 0)
    assert found == {"b": ((2,), None, 2), "z.kernel": ((3, 4), None, 12), "a": tie, "z.near": tie, "z.far": tie}


@pytest.mark.parametrize("target", ["/nowhere", "w", "/w/w", "/one", "/z/kernel/x"])
def test_a_link_to_nothing_or_to_itself_is_refused(target: str) -> None:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened["z/kernel"] = np.zeros((3, 4), np.float32)
        opened["one"], opened["two"] = h5py.SoftLink("/two"), h5py.SoftLink("/one")
        opened["w"] = h5py.SoftLink(target)
    with pytest.raises(
        ReadError, match=r"is a link (to '.*', which is not in the file|that leads through too many others, or back to itself)"
    ):
        read_bytes(keras.read, file.getvalue())


@pytest.mark.parametrize("way", ["named", "on the way of another"])
def test_no_other_file_is_opened_to_see_where_a_link_leads(way: str, tmp_path: Path) -> None:
    """The library opens what an external link names as soon as it is asked whether the name is there: of a pipe it would wait for ever."""
    os.mkfifo(tmp_path / "pipe.h5")
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as opened:
        opened["w"] = np.zeros(2, np.float32)
        opened["out"] = h5py.ExternalLink("pipe.h5", "/")
        if way != "named":
            opened["a"] = h5py.SoftLink("/out/x")
    command = [sys.executable, "-m", "weighbridge.cli", "count", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "'out' is a link that may lead out of the file, which is not followed" in found.stderr


@pytest.mark.parametrize("kind", ["external", "virtual", "elsewhere"])
def test_what_leads_out_of_the_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as opened:
        if kind == "external":
            opened["w"] = h5py.ExternalLink("other.h5", "/w")
        elif kind == "virtual":
            layout = h5py.VirtualLayout((4,), "f4")
            layout[:] = h5py.VirtualSource("other.h5", "w", (4,))
            opened.create_virtual_dataset("w", layout)
        else:
            opened.create_dataset("w", (4,), "f4", external=[("passwd", 0, 16)])
    with pytest.raises(ReadError, match=r"'w' (is a link that may lead out of the file|keeps its values in other files)"):
        read_bytes(keras.read, path.read_bytes())


def test_what_is_no_keras_file_is_refused() -> None:
    with pytest.raises(ReadError, match=r"it starts neither like an HDF5 file nor like a \.keras archive"):
        read_bytes(keras.read, b"hello")
    with pytest.raises(ReadError, match="the HDF5 is damaged"):
        read_bytes(keras.read, file_of(LEGACY)[:500])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(ReadError, match=r"the archive holds no model\.weights\.h5"):
        read_bytes(keras.read, file.getvalue())


DAMAGED = """
import sys
from tests.unit.readers.hostile import assert_robust
from tests.unit.readers.test_keras import LEGACY, file_of
from weighbridge.readers import keras, list_open, read_listing
def check(listing):
    assert all(type(size) is int and size >= 0 for tensor in listing.tensors for size in tensor.shape)
assert_robust(keras.read, file_of(LEGACY), check=check, number=500, truncations=False)
"""


@pytest.mark.sweep
def test_damage_is_refused_or_read() -> None:
    """In a process of its own, since the library is not ours."""
    done = subprocess.run([sys.executable, "-c", DAMAGED], capture_output=True, timeout=300, env={"PYTHONPATH": "src:."}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_texts_records_and_references_are_listed_and_no_parameters() -> None:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened["w"] = [[1.0, 2.0]]
        opened["names"] = ["a", "bb"]
        opened["one"] = "text"
        opened["fixed"] = np.array([b"ab", b"c"])
        opened["record"] = np.zeros(3, dtype=[("a", "f4"), ("b", "i4")])
        opened["reference"] = opened["w"].ref
        opened.create_dataset("lists", (2,), dtype=h5py.vlen_dtype("f4"))
        opened["type"] = opened["w"].dtype
    listing = list_open(io.BytesIO(file.getvalue()), "x.h5")
    assert [(tensor.name, tensor.role) for tensor in listing.tensors] == [
        ("fixed", "buffer"),
        ("lists", "buffer"),
        ("names", "buffer"),
        ("one", "buffer"),
        ("record", "buffer"),
        ("reference", "buffer"),
        ("w", None),
    ]


def test_bfloat16_is_two_bytes_with_an_attribute(tmp_path: Path) -> None:
    """HDF5 has no such type: Keras 3 writes opaque bytes and says beside them what they are; they counted for nothing."""
    with h5py.File(tmp_path / "x.weights.h5", "w") as opened:
        kernel = opened.create_dataset("layers/dense/vars/0", (4, 3), "V2")
        kernel.attrs["dtype"] = "bfloat16"
        opened.create_dataset("layers/dense/vars/1", (3,), "c8")
        opened.create_dataset("layers/other/vars/0", (5,), "V2")
    found = checkpoint_of(str(tmp_path / "x.weights.h5"))
    assert tally_of(found).unique == 15
    assert [tensor.dtype for tensor in keras.read(io.BytesIO((tmp_path / "x.weights.h5").read_bytes())).tensors] == [
        "BF16",
        "C64",
        "RECORD",
    ]


def test_one_shard_says_that_it_is_one(tmp_path: Path) -> None:
    path = tmp_path / "model_00000.weights.h5"
    path.write_bytes(file_of({"layers/dense/vars/0": np.zeros((3, 4), np.float32)}))
    assert "this is one shard of several, and the others are not counted" in [str(note) for note in checkpoint_of(str(path)).notes]


def shards(folder: Path) -> dict[str, Any]:
    """Write what Keras 3.15.1 writes of a small model with ``save_weights("model.weights.json", max_shard_size=...)``."""
    (folder / "model_00000.weights.h5").write_bytes(
        file_of({"layers/dense/vars/0": np.zeros((3, 4), np.float32), "layers/dense_1/vars/0": np.zeros((4, 5), np.float32)})
    )
    rest = {"layers/dense_1/vars/1": np.zeros(5, np.float32), "optimizer/vars/0": np.zeros((4, 5), np.float32)}
    (folder / "model_00001.weights.h5").write_bytes(file_of(rest))
    first, second = "model_00000.weights.h5", "model_00001.weights.h5"
    weight_map = {"/layers/dense/vars": first, "/layers/dense_1/vars": [first, second], "/optimizer/vars": [second]}
    return {"metadata": {"total_size": 228.0}, "weight_map": weight_map}


@pytest.mark.parametrize("name", ["", "model.weights.json"])
def test_shards_of_keras_are_one_model(name: str, tmp_path: Path) -> None:
    (tmp_path / "model.weights.json").write_text(json.dumps(shards(tmp_path)))
    model = checkpoint_of(tmp_path / name)
    assert tally_of(model).unique == 12 + 20 + 5
    assert model.notes == ("1 arrays with 20 elements are the optimizer's, no parameters",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"/layers/dense/vars": "../x.weights.h5"}, "the index names '../x.weights.h5', which is not in this directory"),
        ({"/layers/dense/vars": 3}, "an index of Keras needs a weight_map from each layer to its files"),
        ({"/layers/dense/vars": []}, "an index of Keras needs a weight_map from each layer to its files"),
        ({"/layers/dense/vars": "model_00002.weights.h5"}, "1 of 3 shards are missing: model_00002.weights.h5"),
        (
            {"/layers/a/vars": "model_00001.weights.h5"},
            "model_00001.weights.h5 holds nothing of '/layers/a/vars', which the index gives it",
        ),
    ],
)
def test_an_index_of_keras_that_is_not_kept_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    index = shards(tmp_path)
    index["weight_map"] |= change
    (tmp_path / "model.weights.json").write_text(json.dumps(index))
    with pytest.raises(ReadError) as caught:
        checkpoint_of(tmp_path / "model.weights.json")
    assert caught.value.message == said


def test_an_index_that_names_nothing_is_refused(tmp_path: Path) -> None:
    """It was read as a model without a tensor, and nothing was said of the shards beside it."""
    (tmp_path / "model.weights.json").write_text(json.dumps({**shards(tmp_path), "weight_map": {}}))
    with pytest.raises(ReadError, match=r"model\.weights\.json: the index names no tensor$"):
        checkpoint_of(tmp_path)


def test_a_shard_of_keras_that_the_index_does_not_name_is_told(tmp_path: Path) -> None:
    index = shards(tmp_path)
    index["weight_map"] = {"/layers/dense/vars": "model_00000.weights.h5"}
    (tmp_path / "model.weights.json").write_text(json.dumps(index))
    said = [str(note) for note in checkpoint_of(tmp_path).notes]
    assert "1 shards lie beside those of the index, which does not name them, and were not counted: model_00001.weights.h5" in said


def test_a_name_twice_in_one_shard_is_not_called_one_in_two(tmp_path: Path) -> None:
    (tmp_path / "model_00000.weights.h5").write_bytes(
        file_of({"a.b/vars/0": np.zeros(2, np.float32), "a/b/vars/0": np.zeros(3, np.float32)})
    )
    (tmp_path / "model.weights.json").write_text(json.dumps({"weight_map": {"a/b/vars": "model_00000.weights.h5"}}))
    with pytest.raises(ReadError, match=r"model_00000\.weights\.h5: the name a\.b\.vars\.0 occurs twice$"):
        checkpoint_of(tmp_path)


def test_drawn_folders_of_shards_are_counted_by_what_index_and_shards_agree_on(tmp_path: Path) -> None:
    """Each variable has a size of its own, so that the sum tells which were counted."""
    drawn, read = Random(7), 0
    for number in range(120):
        found = draw_folder(bytes(drawn.choice((0, 0, 0, 6, drawn.randrange(256))) for _ in range(40)))
        (folder := tmp_path / str(number)).mkdir()
        for name, data in found.files.items():
            (folder / name).write_bytes(data)
        try:
            listing = read_listing(folder)
        except ReadError:
            continue
        assert listing.stored == found.elements or not found.whole
        read += 1
    assert read > 5
