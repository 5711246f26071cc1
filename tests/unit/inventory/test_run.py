"""A census of files, tables and archives: every model one row, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.sizes import as_int
from weighbridge.documents.census import answer_document
from weighbridge.documents.renderers import render
from weighbridge.inventory import run
from weighbridge.inventory.items import Item, items
from weighbridge.inventory.query import QUESTIONS, Answer, ask
from weighbridge.inventory.run import census
from weighbridge.inventory.schema import COLUMNS
from weighbridge.inventory.shards import Shard, ShardResult, halves, shards, weigh_shard

BERT = {"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4}


def write(path: Path, raw: object) -> Path:
    """Write a config."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(raw))
    return path


def table(folder: Path) -> list[dict[str, Any]]:
    """Read a census."""
    rows: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: row["path"])


def safetensors(path: Path, tensors: dict[str, list[int]], metadata: dict[str, str] | None = None) -> None:
    """Write a checkpoint of zeros."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, shape in tensors.items():
        size = 4
        for length in shape:
            size *= length
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(offset))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A model store with some of everything."""
    root = tmp_path / "store"
    write(root / "a" / "config.json", BERT)
    write(root / "a" / "tokenizer_config.json", {"model_max_length": 5})
    write(root / "b" / "config.json", {"model_type": "gpt2", "n_layer": 1})
    write(root / "many" / "one_config.json", {"model_type": "no_such"})
    write(root / "many" / "two_config.json", {"model_type": "bert", "hidden_size": 7})
    (root / "broken").mkdir()
    (root / "broken" / "config.json").write_bytes(b"{\xff")
    safetensors(root / "weights.safetensors", {"w": [3, 4]}, {"total_parameters": "13"})
    (root / "torn.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{")
    os.symlink(root, root / "many" / "loop")
    return root


def test_every_model_of_a_store_is_a_row(store: Path, tmp_path: Path) -> None:
    summary = census([str(store)], tmp_path / "out", jobs=1)
    rows = {row["path"].removeprefix(f"{store}/"): row for row in table(tmp_path / "out")}
    assert {name: row["status"] for name, row in rows.items()} == {
        "a/config.json": "ok", "b/config.json": "ok", "broken/config.json": "error", "many/one_config.json": "unknown",
        "many/two_config.json": "error", "torn.safetensors": "error", "weights.safetensors": "ok",
    }  # fmt: skip
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
        "many.jsonl:1": "ok", "many.jsonl:3": "error", "many.jsonl:4 org/x": "ok", "many.jsonl:5": "error",
        "dump.parquet:0:0 p/q": "ok", "dump.parquet:0:1 r/s": "error", "all.zip!x/config.json": "ok", "all.tar.gz!y/config.json": "ok",
        "store/a/config.json": "ok", "store/many/one_config.json": "unknown", "store/many/two_config.json": "error",
    }  # fmt: skip


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


def test_a_full_disk_is_one_clear_line_and_the_next_run_goes_on(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "weigh_shard", on_a_full_disk)
    with pytest.raises(UsageError, match="No space left on device"):
        census([str(store)], tmp_path / "out", jobs=1)
    assert not list((tmp_path / "out").glob("*unfinished*"))
    monkeypatch.setattr(run, "weigh_shard", weigh_shard)
    census([str(store)], tmp_path / "out", jobs=1)
    assert len(table(tmp_path / "out")) == 7


def on_a_full_disk(shard: Shard, folder: str) -> ShardResult:
    """Weigh a shard where nothing more can be written."""
    import errno

    import pyarrow.parquet as parquet

    def write_table(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    parquet.write_table = write_table
    return weigh_shard(shard, folder)


def test_what_may_not_be_read_is_a_row(store: Path, tmp_path: Path) -> None:
    (store / "a" / "config.json").chmod(0)
    (store / "many").chmod(0)
    command = [sys.executable, "-m", "weighbridge", "census", str(store), "-o", str(tmp_path / "out"), "--jobs", "1"]
    if os.geteuid() == 0:  # root without the two rights by which it reads everything
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv to take that right away")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    subprocess.run(command, check=True, capture_output=True)
    (store / "many").chmod(0o755)
    errors = {row["path"].removeprefix(f"{store}/"): row["error"] for row in table(tmp_path / "out") if row["status"] == "error"}
    assert "Permission denied" in errors["a/config.json"]
    assert "cannot be read" in errors["many"]


def test_stated_totals_of_a_table_are_held_against_the_true_ones(tmp_path: Path) -> None:
    bert = {"model_type": "bert"}
    records = [
        {"id": "a", "config": bert, "safetensors": {"total": 109482240}}, {"id": "b", "config": bert, "parameters": 109482240 + 512},
        {"id": "c", "config": bert, "num_parameters": 98765432}, {"id": "d", "config": {"model_type": "no_such"}, "parameters": 7},
        {"id": "e", "config": bert},
    ]  # fmt: skip
    (tmp_path / "hub.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pq.write_table(pa.table({"id": ["p"], "config": [json.dumps(bert)], "n_parameters": [108891648]}), tmp_path / "hub.parquet")
    census([str(tmp_path / "hub.jsonl"), str(tmp_path / "hub.parquet")], tmp_path / "out", jobs=1)
    rows = {row["path"][-1]: (row["claimed"], row["claim_holds"], row["claim_convention"]) for row in table(tmp_path / "out")}
    assert rows == {
        "a": (109482240, True, None), "b": (109482752, False, "BertModel, with position ids"), "c": (98765432, False, None),
        "d": (7, None, None), "e": (None, None, None), "p": (108891648, False, "BertModel without pooler"),
    }  # fmt: skip
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


@pytest.mark.parametrize("bad", ["no/such/folder", "no/such/*.json", "@no-list.txt", "nothing"])
def test_a_source_that_is_not_there_is_named(bad: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=bad.strip("@").replace("*", r"\*")):
        census([bad], tmp_path / "out", jobs=1)


def test_a_folder_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        census([str(tmp_path)], tmp_path, jobs=1)
    with pytest.raises(UsageError, match="is a file"):
        census([str(tmp_path)], tmp_path / "notes.txt", jobs=1)


def deadly(shard: Shard, folder: str) -> ShardResult:
    """Weigh a shard, but die at a certain file."""
    if any("poison" in item.path for item in shard.items):
        os.kill(os.getpid(), signal.SIGKILL)
    return weigh_shard(shard, folder)


def test_a_file_that_kills_its_process_gets_a_row(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store / "poison" / "config.json", BERT)
    monkeypatch.setattr(run, "weigh_shard", deadly)
    census([str(store)], tmp_path / "out", jobs=2)
    rows = {row["path"].removeprefix(f"{store}/"): row for row in table(tmp_path / "out")}
    assert len(rows) == 8
    assert rows["poison/config.json"]["error"] == "the process that read it died"
    assert rows["a/config.json"]["status"] == "ok"


def deadly_line(shard: Shard, folder: str) -> ShardResult:
    """Weigh a shard, but die at a certain line or row."""
    if any(item.line <= 13 < (item.end if item.kind == "rows" else item.line + _lines_of(item)) for item in shard.items):
        os.kill(os.getpid(), signal.SIGKILL)
    return weigh_shard(shard, folder)


def _lines_of(item: Item) -> int:
    return Path(item.path).read_bytes()[item.start : item.end].count(b"\n")


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_line_that_kills_its_process_loses_no_other(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "weigh_shard", deadly_line)
    monkeypatch.setattr(run, "TRIES", 2)
    texts = [json.dumps({**BERT, "vocab_size": 100 + number}) for number in range(24)]
    path = tmp_path / f"many.{form}"
    if form == "jsonl":
        path.write_text("".join(text + "\n" for text in texts))
    else:
        pq.write_table(pa.table({"config": texts}), path)
    census([str(path)], tmp_path / "out", jobs=1)
    rows = table(tmp_path / "out")
    assert len(rows) == 24
    assert [row["path"].rpartition(":")[2] for row in rows if row["status"] == "error"] == ["13"]


def slowly(shard: Shard, folder: str) -> ShardResult:
    """Weigh a shard after a moment in which it can be killed."""
    time.sleep(0.05)
    return weigh_shard(shard, folder)


@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_random_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    lines = tmp_path / "many.jsonl"
    lines.write_text("".join(json.dumps({**BERT, "vocab_size": 100 + number}) + "\n" for number in range(600)))
    monkeypatch.setattr("weighbridge.inventory.items.LINES", 20)
    monkeypatch.setattr(run, "weigh_shard", slowly)
    over = threading.Event()
    killer = threading.Thread(target=_kill_workers, args=(random.Random(seed), over))
    killer.start()
    try:
        summary = census([str(lines)], tmp_path / "out", jobs=2)
    finally:
        over.set()
        killer.join()
    rows = table(tmp_path / "out")
    assert summary.rows == len(rows) == 600
    assert len({row["path"] for row in rows}) == 600
    assert {row["status"] for row in rows} == {"ok"}


def _kill_workers(rng: random.Random, over: threading.Event) -> None:
    """Kill a process that weighs every now and then, a few times."""
    for _ in range(4):
        if over.wait(0.3 + 0.4 * rng.random()):
            return
        workers = _grandchildren()
        if workers:
            os.kill(rng.choice(workers), signal.SIGKILL)


def _grandchildren() -> list[int]:
    """Return the processes that the server of new processes has made."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(status[1]), []).append(int(entry.name))
    return [worker for child in parents.get(os.getpid(), []) for worker in parents.get(child, [])]


def test_a_full_disk_is_said_and_leaves_no_half_part(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    shard = Shard("part-000000-x.parquet", tuple(items([str(store / "a")])), 5)
    with pytest.raises(OSError, match="No space left"):
        weigh_shard(shard, str(tmp_path))
    assert not list(tmp_path.glob("part-*"))


def test_neighbours_that_never_end_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "store"
    write(root / "good" / "config.json", BERT)
    (root / "fifo").mkdir()
    os.mkfifo(root / "fifo" / "config.json")
    (root / "device").mkdir()
    os.symlink("/dev/zero", root / "device" / "config.json")
    (root / "gone").mkdir()
    os.symlink("nowhere", root / "gone" / "config.json")
    census([str(root)], tmp_path / "out", jobs=1, seconds=5)
    rows = {row["path"].removeprefix(f"{root}/"): row["status"] for row in table(tmp_path / "out")}
    assert rows == {"good/config.json": "ok", "fifo/config.json": "error", "device/config.json": "error", "gone/config.json": "error"}


def test_sources_that_are_no_files_are_not_waited_for(tmp_path: Path) -> None:
    named = []
    for ending in ("jsonl", "zip", "tar.gz", "json", "safetensors"):
        named += [tmp_path / f"pipe.{ending}", tmp_path / f"device.{ending}", tmp_path / f"loop.{ending}"]
        os.mkfifo(named[-3])
        named[-2].symlink_to("/dev/zero")
        named[-1].symlink_to(named[-1].name)
    census(list(map(str, named)), tmp_path / "out", jobs=1, seconds=5)
    assert {row["path"]: row["status"] for row in table(tmp_path / "out")} == dict.fromkeys(map(str, named), "error")
    os.mkfifo(tmp_path / "pipe.parquet")
    with pytest.raises(SourceError) as caught:
        list(items([str(tmp_path / "pipe.parquet")]))
    assert str(caught.value) == f"{tmp_path}/pipe.parquet: cannot be read: a named pipe, not a file"


def test_a_part_that_is_a_pipe_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "part-0.parquet")
    with pytest.raises(UsageError) as caught:
        ask(tmp_path, "largest")
    assert str(caught.value) == f"{tmp_path}: no census here; weigh census SOURCES -o {tmp_path} makes one"


def test_damaged_archives_and_tables_are_rows_or_errors(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 nothing")
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(b"nothing" * 100))
    census([str(tmp_path / "a.zip"), str(tmp_path / "b.tar.gz")], tmp_path / "out", jobs=1)
    assert [row["status"] for row in table(tmp_path / "out")] == ["error", "error"]
    (tmp_path / "c.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(SourceError, match="no Parquet file"):
        census([str(tmp_path / "c.parquet")], tmp_path / "out2", jobs=1)


def test_stretches_of_lines_join_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LINES", 3)
    lines = tmp_path / "x.jsonl"
    lines.write_bytes(b"a\nbb\n\nccc\nd")
    found = list(items([str(lines)]))
    assert [(item.start, item.end, item.line) for item in found] == [(0, 6, 1), (6, 11, 4)]
    assert found[0] == Item("lines", str(lines), 0, 6, 1, rows=3)


def test_a_line_that_no_config_is_as_long_as_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LARGEST_CONFIG", 100)
    monkeypatch.setattr("weighbridge.inventory.items.PIECE", 64)
    table = tmp_path / "t.jsonl"
    lines = [b'{"a": 1}\n', b'{"a": 2}\n', b"x" * 1000 + b"\n", b'{"a": 4}\n', b"y" * 100 + b"\n", b'{"a": 6}\n', b"z" * 500]
    table.write_bytes(b"".join(lines))
    found = [(item.kind, item.line or item.path.rpartition(":")[2], item.rows) for item in items([str(table)])]
    assert found == [
        ("lines", 1, 2),
        ("unreadable", "3", 1),
        ("lines", 4, 1),
        ("unreadable", "5", 1),
        ("lines", 6, 1),
        ("unreadable", "7", 1),
    ]
    starts = [item for item in items([str(table)]) if item.kind == "lines"]
    assert [table.read_bytes()[item.start : item.end] for item in starts] == [lines[0] + lines[1], lines[3], lines[5]]


def test_few_long_lines_are_an_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.items.LARGEST_STRETCH", 100)
    table = tmp_path / "t.jsonl"
    table.write_bytes((b"x" * 60 + b"\n") * 5)
    assert [(item.line, item.rows) for item in items([str(table)])] == [(1, 2), (3, 2), (5, 1)]


def test_vocabularies_by_year_say_where_the_year_is_from(tmp_path: Path) -> None:
    records = [
        {"id": "a", "createdAt": "2019-05-01T00:00:00.000Z", "config": {"model_type": "bert"}},
        {"id": "b", "createdAt": "2023-05-01", "lastModified": "2024-01-01", "config": {"model_type": "llama"}},
        {"id": "c", "release_date": 2023, "config": {"model_type": "qwen2"}},
        {"id": "d", "config": {"model_type": "gpt2"}},
    ]
    (tmp_path / "hub.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    times = pa.array([datetime(2021, 2, 3, tzinfo=UTC)], pa.timestamp("ms", "UTC"))
    pq.write_table(pa.table({"config": ['{"model_type": "gpt2"}'], "created_at": times}), tmp_path / "dump.parquet")
    old = write(tmp_path / "store" / "config.json", BERT)
    os.utime(old, (1_500_000_000, 1_500_000_000))
    safetensors(tmp_path / "store2" / "x.safetensors", {"w": [3, 4]}, {"modelspec.date": "2022-12-31"})
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(ZipInfo("x/config.json", (2020, 1, 2, 3, 4, 6)), '{"model_type": "llama"}')
    sources = [str(tmp_path / name) for name in ("hub.jsonl", "dump.parquet", "store", "store2", "all.zip")]
    census(sources, tmp_path / "out", jobs=1)
    answer = ask(tmp_path / "out", "vocabulary")
    assert answer.columns == ("year", "year_from", "models", "multiples_of_64", "percent")
    assert answer.rows == (
        (2017, "file", 1, 0, 0.0), (2019, "record", 1, 0, 0.0), (2020, "file", 1, 1, 100.0), (2021, "record", 1, 0, 0.0),
        (2023, "record", 2, 2, 100.0), (None, None, 1, 0, 0.0),
    )  # fmt: skip
    years = {row["path"].rpartition("/")[2]: (row["year"], row["year_from"]) for row in table(tmp_path / "out")}
    assert years["x.safetensors"] == (2022, "metadata")


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_ready_question_has_an_answer(question: str, store: Path, tmp_path: Path) -> None:
    census([str(store)], tmp_path / "out", jobs=1)
    answer = ask(tmp_path / "out", question)
    assert answer.columns
    if question == "summary":
        assert set(answer.rows) == {("ok", 3), ("error", 3), ("unknown", 1)}
    if question == "largest":
        assert answer.rows[0][0].endswith("b/config.json")


@pytest.mark.parametrize(
    "sql",
    ["drop view census", "select 1; select 2", "copy census to 'x.csv'", "select * from read_csv('/etc/passwd')", "select * from '/etc/passwd'",
     "with a as (select 1) insert into census select * from a", "select no_such from census", "install httpfs", ""],
)  # fmt: skip
def test_a_census_is_only_read(sql: str, store: Path, tmp_path: Path) -> None:
    census([str(store)], tmp_path / "out", jobs=1)
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    with pytest.raises(UsageError):
        ask(tmp_path / "out", sql)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before


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


def test_a_year_is_shown_as_a_year() -> None:
    shown = render(answer_document("vocabulary", Answer(("year", "models"), ((2023, 1_500), (None, 2)))), "csv")
    assert shown.splitlines()[1:] == ["2023,1500", ",2"]
    assert "2023   1,500" in render(answer_document("vocabulary", Answer(("year", "models"), ((2023, 1_500),))), "text")
