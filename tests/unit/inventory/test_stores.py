"""A census of an object store: every header one ranged request, and a store that fails or stalls costs no row."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.unit.bert import CONFIG
from tests.unit.readers.test_objects import Store, quiet, watch
from tests.unit.safetensors_file import whole
from weighbridge.inventory import shards
from weighbridge.inventory.items import Item, items
from weighbridge.inventory.run import census
from weighbridge.inventory.shards import weigh_shard
from weighbridge.readers.remote import TransientError

pytest.importorskip("obstore")
serving = pytest.importorskip("werkzeug.serving")


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An S3 server with a bucket of models: eight configs, eight headers, one directory with both."""
    moto = pytest.importorskip("moto.server")
    store = Store()
    application = watch(store, moto.DomainDispatcherApplication(moto.create_backend_app))
    server = serving.make_server("127.0.0.1", 0, application, threaded=True, request_handler=quiet())
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_port}"
    for name, value in (("ACCESS_KEY_ID", "id"), ("SECRET_ACCESS_KEY", "secret"), ("REGION", "us-east-1"), ("ENDPOINT_URL", store.url)):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    urllib.request.urlopen(urllib.request.Request(f"{store.url}/models", method="PUT"), timeout=20).close()
    for number in range(8):
        store.put(f"configs/{number}/config.json", json.dumps({**CONFIG, "vocab_size": 100 + number}).encode())
        store.put(f"files/{number}.safetensors", whole({f"layers.{n}.weight": (10, 100 + number) for n in range(20)}))
    store.put("both/config.json", json.dumps(CONFIG).encode())
    store.put("both/model.safetensors", whole({"w": (3, 4)}))
    store.forget()
    yield store
    server.shutdown()
    thread.join()
    server.server_close()


def rows_of(source: str, folder: Path, seconds: float = 30) -> dict[str, dict[str, Any]]:
    """Weigh a source in this process."""
    folder.mkdir(exist_ok=True)
    for shard in shards.shards(items([source]), seconds):
        weigh_shard(shard, str(folder))
    return {row["path"].removeprefix("s3://models/"): row for row in pq.read_table(folder).to_pylist()}


def test_every_header_is_one_ranged_request(s3: Store, tmp_path: Path) -> None:
    rows = rows_of("s3://models/files/", tmp_path / "out")
    assert {row["unique"] for row in rows.values()} == {20 * 10 * (100 + number) for number in range(8)}
    fetched = [(path, span) for path, span in s3.seen if path.startswith("/models/files/")]
    assert sorted(fetched) == [(f"/models/files/{number}.safetensors", "bytes=0-32767") for number in range(8)]
    assert len(s3.seen) - len(fetched) == 1, "and the bucket is listed once"


def test_configs_and_directories_of_a_store_are_rows_as_on_disk(s3: Store, tmp_path: Path) -> None:
    rows = rows_of("s3://models/", tmp_path / "out")
    assert len(rows) == 17
    for number in range(8):
        there = rows[f"configs/{number}/config.json"]
        here = tmp_path / str(number) / "config.json"
        here.parent.mkdir()
        here.write_text(json.dumps({**CONFIG, "vocab_size": 100 + number}))
        elsewhere = {"path": "", "year": None, "year_from": None}  # a store's listing says no time
        assert {**there, **elsewhere} == {**next(iter(rows_of(str(here), tmp_path / f"out{number}").values())), **elsewhere}
    assert rows["both/"]["verified"] is False


@pytest.mark.parametrize("answers", [[503], [503, 500, 503], [429, 503]])
def test_a_store_that_answers_503_for_a_while_loses_no_row(answers: list[int], s3: Store, tmp_path: Path) -> None:
    s3.answers = list(answers)
    rows = rows_of("s3://models/files/", tmp_path / "out")
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert len(rows) == 8


HICCUPS = [OSError(104, "Connection reset by peer"), AttributeError("partially initialized module"), TransientError("cannot be reached")]


@pytest.mark.parametrize("error", HICCUPS)
def test_one_that_fails_once_is_asked_for_again(error: Exception, s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failing = shards._from_afar, ["s3://models/files/3.safetensors", "s3://models/files/6.safetensors"]

    def far(source: str) -> Any:
        if source in failing:
            failing.remove(source)
            raise error
        return real(source)

    monkeypatch.setattr(shards, "_from_afar", far)
    rows = rows_of("s3://models/files/", tmp_path / "out")
    assert list(rows) == [f"files/{number}.safetensors" for number in range(8)]
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert failing == []


def test_one_that_stays_away_is_a_row_that_says_so(s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shards._from_afar

    def far(source: str) -> Any:
        if source.endswith("3.safetensors"):
            raise OSError(5, "the store answers HTTP 503")
        return real(source)

    monkeypatch.setattr(shards, "_from_afar", far)
    rows = rows_of("s3://models/files/", tmp_path / "out")
    assert len(rows) == 8
    assert [path for path, row in rows.items() if row["status"] == "error"] == ["files/3.safetensors"]
    assert sum(row["status"] == "ok" for row in rows.values()) == 7


def test_a_store_that_is_gone_is_not_asked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def far(source: str) -> Any:
        asked.append(source)
        time.sleep(0.3)
        raise TransientError("cannot be reached")

    monkeypatch.setattr(shards, "_from_afar", far)
    found = tuple(Item("source", f"s3://models/{number}.safetensors") for number in range(20))
    assert {row["status"] for row in shards._from_afar_together(found, 1)} == {"error"}
    assert 20 < len(asked) <= 25


def test_a_store_that_stalls_holds_up_its_own_row_alone(s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, over = shards._from_afar, threading.Event()

    def far(source: str) -> Any:
        if "/1.safetensors" in source:
            over.wait(20)
        return real(source)

    monkeypatch.setattr(shards, "_from_afar", far)
    begun = time.monotonic()
    rows = rows_of("s3://models/files/", tmp_path / "out", seconds=1)
    over.set()
    assert time.monotonic() - begun < 15
    late = [row for row in rows.values() if row["status"] == "error"]
    assert [row["error"] for row in late] == ["took more than 1 seconds"]
    assert len(rows) == 8


def test_a_census_of_a_store_in_processes_of_its_own(s3: Store, tmp_path: Path) -> None:
    summary = census(["s3://models/configs/", "s3://models/files/"], tmp_path / "out", jobs=2)
    failed = {row["path"]: row["error"] for row in pq.read_table(tmp_path / "out").to_pylist() if row["status"] != "ok"}
    assert failed == {}
    assert summary.counts == {"ok": 16}
    assert census(["s3://models/configs/", "s3://models/files/"], tmp_path / "out", jobs=2).skipped == summary.parts


def test_what_changed_in_a_store_is_weighed_again(s3: Store, tmp_path: Path) -> None:
    assert rows_of("s3://models/files/", tmp_path / "out")["files/3.safetensors"]["unique"] == 20_600
    before = {shard.name for shard in shards.shards(items(["s3://models/files/"]), 30)}
    s3.put("files/3.safetensors", whole({"w": (3, 4)}))
    assert before.isdisjoint(shard.name for shard in shards.shards(items(["s3://models/files/"]), 30))


def test_what_failed_far_away_is_done_again_by_the_next_run(s3: Store, tmp_path: Path) -> None:
    s3.put("files/bad.safetensors", b"\x08\0\0\0\0\0\0\0{")
    first = census(["s3://models/files/"], tmp_path / "out", jobs=1)
    assert first.counts == {"ok": 8, "error": 1}
    assert census(["s3://models/files/"], tmp_path / "out", jobs=1).skipped == 0
    assert len(pq.read_table(tmp_path / "out")) == 9
