"""A census goes on: killed workers, full disks, pipes, damaged archives and lines that nobody can read."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.inventory.stores import BERT, table, write
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.inventory import run
from weighbridge.inventory.items import Item, items
from weighbridge.inventory.query import ask
from weighbridge.inventory.run import census
from weighbridge.inventory.shards import Shard, ShardResult, weigh_shard


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
