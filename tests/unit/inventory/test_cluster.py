"""The same census on a Dask cluster of real processes on this machine, one of which is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from weighbridge.core.errors import SourceError
from weighbridge.inventory.run import census

pytestmark = pytest.mark.sweep
distributed = pytest.importorskip("distributed")
ROWS = 1_500


def table(folder: Path) -> list[dict[str, Any]]:
    """Read a census, sorted."""
    rows: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: row["path"])


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Many configs, some of which make no model, in a file that is cut into a hundred stretches."""
    monkeypatch.setattr("weighbridge.inventory.items.LINES", ROWS // 100)
    path = tmp_path / "many.jsonl"
    configs = [{"model_type": "bert", "vocab_size": 100 + number, "hidden_size": 768 + number % 7 // 6} for number in range(ROWS)]
    path.write_text("".join(json.dumps(config) + "\n" for config in configs))
    return path


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = [self._start("scheduler", "--port", "0", "--scheduler-file", str(self.file), "--no-dashboard")]
        self.workers = [self._start_worker() for _ in range(2)]

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        program = f"from distributed.cli.dask_{arguments[0]} import main; main({list(arguments[1:])!r})"
        return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)

    def _start_worker(self) -> subprocess.Popen[bytes]:
        found = self._start("worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard")
        self.processes.append(found)
        return found

    @property
    def address(self) -> str:
        """The scheduler's address."""
        for _ in range(300):
            if self.file.exists() and self.file.stat().st_size:
                return str(json.loads(self.file.read_text())["address"])
            time.sleep(0.1)
        raise TimeoutError("no scheduler")

    def wait_for_workers(self) -> None:
        """Wait until both have signed in."""
        with distributed.Client(self.address, timeout="30s", set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)

    def end(self) -> None:
        """End every process that was started here."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster on loopback."""
    found = Cluster(tmp_path)
    try:
        found.wait_for_workers()
        yield found
    finally:
        found.end()


def test_a_cluster_gives_the_very_rows_of_this_machine(cluster: Cluster, lines: Path, tmp_path: Path) -> None:
    census([str(lines)], tmp_path / "here", jobs=1)
    here = table(tmp_path / "here")
    census([str(lines)], tmp_path / "all live", cluster=cluster.address)
    assert table(tmp_path / "all live") == here

    def kill_in_the_middle() -> None:
        while len(list((tmp_path / "there").glob("part-*.parquet"))) < 10:
            time.sleep(0.01)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_in_the_middle, daemon=True)
    killer.start()
    summary = census([str(lines)], tmp_path / "there", cluster=cluster.address)
    killer.join(1)
    assert cluster.workers[0].poll() == -signal.SIGKILL
    assert len(here) == ROWS == summary.rows
    assert table(tmp_path / "there") == here
    assert {row["status"] for row in here} == {"ok", "error"}


def test_no_scheduler_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbridge.inventory.run.CONNECT_SECONDS", 0.3)
    with pytest.raises(SourceError, match="no Dask scheduler answers"):
        census([], tmp_path / "out", cluster="tcp://127.0.0.1:1")
