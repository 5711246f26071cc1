"""What a census may be given: objects and folders of stores, lists of ids, a Hub cache, a table with a column of configs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weighbridge.inventory.items import items
from weighbridge.inventory.run import census


@pytest.mark.parametrize("scheme", ["s3", "gs", "az", "hub"])
def test_an_object_of_any_store_is_one_model(scheme: str) -> None:
    address = f"{scheme}://place/models/config.json"
    assert [(item.kind, item.path) for item in items([address])] == [("source", address.removeprefix("hub://"))]


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_a_folder_of_any_store_is_walked_by_its_listing(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = f"{scheme}://bucket/models/"
    keys = {"a/config.json": "1", "a/model.safetensors": "2", "b/config.json": "3", "c/weights.gguf": "4", "c/readme.md": "5"}
    monkeypatch.setattr("weighbridge.inventory.items.keys_below", lambda source: ((source + key, tag) for key, tag in keys.items()))
    found = [(item.path.removeprefix(root), item.version) for item in items([root])]
    assert found == [("a/", "1 2"), ("b/config.json", "3"), ("c/weights.gguf", "4")]


def test_a_list_of_hub_ids_is_a_row_each(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("# from a dump\nbert-base/uncased\n\norg/model.v2@main\n")
    assert [(item.kind, item.path) for item in items([f"@{ids}"])] == [("source", "bert-base/uncased"), ("source", "org/model.v2@main")]


def test_a_hub_cache_is_one_row_a_snapshot(tmp_path: Path) -> None:
    """The cache of huggingface_hub: snapshots of links into blobs, beside refs."""
    for name, layers in (("models--org--a", 2), ("models--org--b", 3)):
        blobs, snapshot = tmp_path / name / "blobs", tmp_path / name / "snapshots" / "0123abcd"
        blobs.mkdir(parents=True)
        snapshot.mkdir(parents=True)
        (blobs / "d00d").write_text(json.dumps({"model_type": "bert", "num_hidden_layers": layers}))
        (snapshot / "config.json").symlink_to(blobs / "d00d")
        (tmp_path / name / "refs").mkdir()
        (tmp_path / name / "refs" / "main").write_text("0123abcd")
    census([str(tmp_path)], tmp_path / "out", jobs=1)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    found = {row["path"].split("/")[-4]: (row["status"], row["layers"]) for row in rows}
    assert found == {"models--org--a": ("ok", 2), "models--org--b": ("ok", 3)}


def test_a_table_with_a_config_column_of_structs_is_a_row_each(tmp_path: Path) -> None:
    configs = [{"model_type": "bert", "num_hidden_layers": 2}, {"model_type": "gpt2", "n_layer": 3}]
    pq.write_table(pa.table({"modelId": ["a/b", "c/d"], "config": configs}), tmp_path / "dump.parquet")
    census([str(tmp_path / "dump.parquet")], tmp_path / "out", jobs=1)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert {(row["path"].rpartition(" ")[2], row["model_type"], row["layers"]) for row in rows} == {("a/b", "bert", 2), ("c/d", "gpt2", 3)}
