"""Whoever asks for little is answered while heavy requests queue; whoever sends many waits no less than whoever sends one."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import pytest

pytest.importorskip("uvicorn", reason="the extra web is not installed")

from tests.unit.web.served import served
from weighbridge.web.turns import Turns, is_first, is_light


def test_light_requests_are_answered_while_heavy_ones_queue() -> None:
    with served("--seconds", "4", "--workers", "2") as server, ThreadPoolExecutor(60) as asking:
        heavy = [asking.submit(server.ask, "/api/v1/tensors?source=endless") for _ in range(25)]
        time.sleep(0.5)
        light = [
            asking.submit(server.ask, address)
            for address in ("/api/v1/count?source=gpt2", "/", "/health", "/static/app.js", "/part/names?q=b", "/nope") * 20
        ]
        assert Counter(future.result()[0] for future in light) == {200: 100, 404: 20}
        assert Counter(future.result()[0] for future in heavy) == {503: 25}


def test_what_only_looks_light_is_moved_to_the_heavy_ones_and_known_from_then_on() -> None:
    with served("--seconds", "8", "--workers", "1", light=0.5) as server:
        # half a second among the light ones, then a whole one among the heavy
        assert any(server.ask("/api/v1/count?source=slow")[0] == 200 for _ in range(6))
        begun = time.monotonic()
        with ThreadPoolExecutor(4) as asking:
            slow = [asking.submit(server.ask, "/api/v1/count?source=slow") for _ in range(2)]
            assert server.ask("/api/v1/count?source=bert-tiny")[0] == 200
            assert [future.result()[0] for future in slow] == [200, 200]
        assert time.monotonic() - begun > 1.9  # one after the other: none of them took the light ones' process


@pytest.mark.parametrize(
    ("method", "path", "asked", "light"),
    [
        ("GET", "/api/v1/count", "source=bert-base-uncased&set.hidden_size=1024", True),
        ("GET", "/part/where", "source=llama", True),
        ("GET", "/model", "source=bert-tiny&set.num_hidden_layers=48", True),
        ("POST", "/api/v1/count", "", True),
        ("GET", "/nope", "", True),
        ("GET", "/api/v1/explain", "source=gpt2", True),
        ("GET", "/part/names", "q=bert", True),
        ("GET", "/models", "", True),
        ("GET", "/api/v1/tensors", "source=bert-tiny", False),
        ("GET", "/api/v1/audit", "text=a", False),
        ("GET", "/model", "source=bert-tiny&set.hidden_size=999999999999989", False),
        ("GET", "/model", "source=bert-tiny&set.num_hidden_layers=9000", False),
        ("GET", "/model", "config=" + "%7B" * 1000, False),
    ],
)
def test_light_is_what_names_a_model_as_people_build_them(method: str, path: str, asked: str, light: bool) -> None:
    assert is_light({"method": method, "path": path, "query_string": asked}) is light


@pytest.mark.parametrize(
    ("body", "light"),
    [
        (b'{"source": "gpt2"}', True),
        (b'{"config": {"model_type": "llama", "num_hidden_layers": 32, "vocab_size": 128256}}', True),
        (b'{"config": {"model_type": "llama", "num_hidden_layers": 9000}}', False),
        (rb'{"config": "{\"num_hidden_layers\":9000}"}', False),
        (b'{"config": {"depths": [2, 2], "hidden_size": 99999999}}', False),
        (b'{"config": "' + b" " * 2000 + b'"}', False),
    ],
)
def test_a_call_with_a_short_body_is_light(body: bytes, light: bool) -> None:
    assert is_light({"method": "POST", "path": "/api/v1/count", "query_string": ""}, body) is light


def _note(ended: list[str], address: str, asked: Future[tuple[int, str]]) -> None:
    ended.append(address)


def test_counts_come_before_addresses_that_lead_nowhere() -> None:
    with served("--seconds", "4", "--workers", "1") as server, ThreadPoolExecutor(90) as asking:
        asking.submit(server.ask, "/api/v1/tensors?source=endless")
        slow = asking.submit(server.ask, "/api/v1/count?source=slow")
        time.sleep(0.4)
        ended: list[str] = []
        for address in ["/nope"] * 40 + ["/api/v1/count?source=gpt2"] * 10:
            asking.submit(server.ask, address).add_done_callback(partial(_note, ended, address))
        assert slow.result()[0] == 200
    assert len(ended) == 50
    assert ended.index("/api/v1/count?source=gpt2") < 30
    assert is_first({"path": "/part/names"})


def test_clients_take_turns() -> None:
    loop = asyncio.new_event_loop()
    turns = Turns[int](10)
    futures = [(client, turns.wait(client, loop)) for client in "aaaabac"]
    assert all(turns.give(turn) for turn in range(7))
    order = sorted((future.result(), client) for client, future in futures if future is not None)
    assert "".join(client for _, client in order) == "abcaaaa"
    assert not turns.give(7)
    future = turns.wait("a", loop)
    assert future is not None
    turns.leave("a", future)
    assert len(turns) == 0
    assert not turns.give(8)
    loop.close()
