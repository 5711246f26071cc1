"""A census of files, tables and archives: every model one row, whatever happens on the way."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.inventory.stores import BERT, safetensors, table, write
from weighbridge.core.sizes import as_int
from weighbridge.inventory import run
from weighbridge.inventory.items import Item, items
from weighbridge.inventory.query import ask
from weighbridge.inventory.run import census
from weighbridge.inventory.schema import COLUMNS
from weighbridge.inventory.shards import halves, shards


def test_every_model_of_a_store_is_a_row(store: Path, tmp_path: Path) -> None:
    summary = census([str(store)], tmp_path / "out", jobs=1)
    rows = {row["path"].removeprefix(f"{store}/"): row for row in table(tmp_path / "out")}
    assert {name: row["status"] for name, row in rows.items()} == {
        "a/config.json": "ok",
        "b/config.json": "ok",
        "broken/config.json": "error",
        "many/one_config.json": "unknown",
        "many/two_config.json": "error",
        "torn.safetensors": "error",
        "weights.safetensors": "ok",
    }
    assert summary.counts == {"ok": 3, "error": 3, "unknown": 1}
    assert rows["weights.safetensors"]["unique"] == 12
    assert rows["weights.safetensors"]["bytes"] == 48
    assert rows["b/config.json"]["class"] == "GPT2Model"
    assert list(pq.read_schema(next((tmp_path / "out").glob("part-*"))).names) == [column.name for column in COLUMNS]


def test_lists_globs_tables_and_archives(store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "many.jsonl"
    lines.write_text(
        "\n".join([json.dumps(BERT), "", "{broken", json.dumps({"id": "org/x", "config": {"model_type": "gpt2"}}), json.dumps([1])])
    )
    parquet = tmp_path / "dump.parquet"
    pq.write_table(pa.table({"modelId": ["p/q", "r/s"], "config": [json.dumps(BERT), None]}), parquet)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("x/config.json", json.dumps(BERT))
        archive.writestr("x/model.safetensors", "not read")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as tape:
        tape.add(store / "b" / "config.json", "y/config.json")
    (tmp_path / "list.txt").write_text(f"# a list\n{store / 'a'}\n\n{store}/many/*_config.json\n")
    named = [str(lines), str(parquet), str(tmp_path / "all.zip"), str(tmp_path / "all.tar.gz"), f"@{tmp_path / 'list.txt'}"]
    census(named, tmp_path / "out", jobs=1)
    rows = {row["path"].removeprefix(f"{tmp_path}/"): row["status"] for row in table(tmp_path / "out")}
    assert rows == {
        "many.jsonl:1": "ok",
        "many.jsonl:3": "error",
        "many.jsonl:4 org/x": "ok",
        "many.jsonl:5": "error",
        "dump.parquet:0:0 p/q": "ok",
        "dump.parquet:0:1 r/s": "error",
        "all.zip!x/config.json": "ok",
        "all.tar.gz!y/config.json": "ok",
        "store/a/config.json": "ok",
        "store/many/one_config.json": "unknown",
        "store/many/two_config.json": "error",
    }


def test_weights_are_held_against_the_config_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "m" / "config.json", {**BERT, "vocab_size": 50, "intermediate_size": 8, "max_position_embeddings": 9})
    import weighbridge

    rows = weighbridge.model(str(tmp_path / "m" / "config.json")).tensors()
    tensors = {row.name: [as_int(length) for length in row.shape] for row in rows}
    safetensors(tmp_path / "m" / "model.safetensors", tensors)
    short = dict(list(tensors.items())[1:])
    write(tmp_path / "n" / "config.json", json.loads((tmp_path / "m" / "config.json").read_text()))
    safetensors(tmp_path / "n" / "model.safetensors", short)
    census([str(tmp_path)], tmp_path / "out", jobs=1)
    complete, torn = table(tmp_path / "out")
    assert (complete["kind"], complete["verified"], complete["mismatch"]) == ("both", True, None)
    assert complete["stored"] == complete["unique"] == weighbridge.count(str(tmp_path / "m" / "config.json")).unique
    assert torn["verified"] is False
    assert "word_embeddings" in torn["mismatch"]


def test_a_second_run_does_only_what_is_missing(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    census([str(store)], out, jobs=1)
    before = table(out)
    assert census([str(store)], out, jobs=1).skipped == 2
    write(store / "c" / "config.json", BERT)
    again = census([str(store)], out, jobs=1)
    assert (again.skipped, again.removed) == (1, 1)  # the shard of weights stands
    assert len(table(out)) == len(before) + 1
    assert census([str(store)], out, jobs=1, fresh=True).skipped == 0
    manifest = json.loads((out / run.MANIFEST).read_text())
    assert manifest["finished"] is True
    assert manifest["rows"] == len(table(out))


def test_a_config_that_changes_beside_its_weights_is_weighed_again(tmp_path: Path) -> None:
    write(tmp_path / "m" / "config.json", BERT)
    safetensors(tmp_path / "m" / "model.safetensors", {"w": [3, 4]})
    assert census([str(tmp_path / "m")], tmp_path / "out", jobs=1).skipped == 0
    assert census([str(tmp_path / "m")], tmp_path / "out", jobs=1).skipped == 1
    (tmp_path / "m" / "config.json").write_text(json.dumps({**BERT, "vocab_size": 99}))  # the folder's own time stays
    assert census([str(tmp_path / "m")], tmp_path / "out", jobs=1).skipped == 0
    assert table(tmp_path / "out")[0]["vocab"] == 99


def test_stated_totals_of_a_table_are_held_against_the_true_ones(tmp_path: Path) -> None:
    bert = {"model_type": "bert"}
    records = [
        {"id": "a", "config": bert, "safetensors": {"total": 109482240}},
        {"id": "b", "config": bert, "parameters": 109482240 + 512},
        {"id": "c", "config": bert, "num_parameters": 98765432},
        {"id": "d", "config": {"model_type": "no_such"}, "parameters": 7},
        {"id": "e", "config": bert},
    ]
    (tmp_path / "hub.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pq.write_table(pa.table({"id": ["p"], "config": [json.dumps(bert)], "n_parameters": [108891648]}), tmp_path / "hub.parquet")
    census([str(tmp_path / "hub.jsonl"), str(tmp_path / "hub.parquet")], tmp_path / "out", jobs=1)
    rows = {row["path"][-1]: (row["claimed"], row["claim_holds"], row["claim_convention"]) for row in table(tmp_path / "out")}
    assert rows == {
        "a": (109482240, True, None),
        "b": (109482752, False, "BertModel, with position ids"),
        "c": (98765432, False, None),
        "d": (7, None, None),
        "e": (None, None, None),
        "p": (108891648, False, "BertModel without pooler"),
    }
    assert {row[-1] for row in ask(tmp_path / "out", "wrong-claims").rows} == {
        "BertModel, with position ids",
        "BertModel without pooler",
        None,
    }


def test_built_loaded_and_the_cache_are_those_of_the_other_commands(tmp_path: Path) -> None:
    import weighbridge

    presets = ["flan-t5-small", "gpt2", "llama-3.2-1b", "mixtral-8x7b", "gemma-2-2b", "bert-base-uncased"]
    for name in presets:
        write(tmp_path / "store" / name / "config.json", weighbridge.load.raw_config(name)[0])
    census([str(tmp_path / "store")], tmp_path / "out", jobs=1)
    for row in table(tmp_path / "out"):
        model = weighbridge.model(row["path"])
        assert row["built"] == row["unique"] == model.count().unique
        assert row["cache_per_token"] == model.cache().per_token
    flan = next(row for row in table(tmp_path / "out") if "flan" in row["path"])
    assert (flan["built"], flan["loaded"]) == (60511616, 76961152)


def test_stretches_of_lines_join_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LINES", 3)
    lines = tmp_path / "x.jsonl"
    lines.write_bytes(b"a\nbb\n\nccc\nd")
    found = list(items([str(lines)]))
    assert [(item.start, item.end, item.line) for item in found] == [(0, 6, 1), (6, 11, 4)]
    assert found[0] == Item("lines", str(lines), 0, 6, 1, rows=3)


def test_few_long_lines_are_an_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LARGEST_STRETCH", 100)
    table = tmp_path / "t.jsonl"
    table.write_bytes((b"x" * 60 + b"\n") * 5)
    assert [(item.line, item.rows) for item in items([str(table)])] == [(1, 2), (3, 2), (5, 1)]


def test_progress_tells_how_many_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LINES", 10)
    lines = tmp_path / "many.jsonl"
    lines.write_text("".join(json.dumps({**BERT, "vocab_size": 100 + number}) + "\n" for number in range(95)))
    write(tmp_path / "a" / "config.json", BERT)
    told: list[tuple[int, int | None]] = []
    census([str(lines), str(tmp_path / "a")], tmp_path / "out", jobs=1, progress=lambda rows, seconds, total: told.append((rows, total)))
    assert told[-1] == (96, 96)
    assert [rows for rows, _ in told] == sorted(rows for rows, _ in told)
    assert [half.rows for half in (entry.items[0] for entry in halves(next(iter(shards(items([str(lines)]), 60)))))] == [5, 5]
