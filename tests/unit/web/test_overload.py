"""A server that is asked too much: every request has an answer, in time, and whoever asks for little has it at once."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn", reason="the extra web is not installed")

from tests.unit.web.served import Served, read_answer, served
from weighbridge.web.serve import RATE


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--seconds", "2", "--workers", "2") as started:
        assert is_well(started)
        yield started


def is_well(server: Served) -> bool:
    """Tell whether an ordinary question has its answer, once a process that was ended has been replaced."""
    return any(server.ask("/api/v1/count?source=bert-tiny")[0] == 200 for _ in range(6))


def test_work_that_never_ends_is_ended(server: Served) -> None:
    status, text = server.ask("/api/v1/count?source=endless")
    assert status == 503
    assert "no answer within 2 seconds" in text
    assert "retry-after: 5" in text
    assert is_well(server)


def test_who_finds_no_free_process_is_told_to_come_back(server: Served) -> None:
    with ThreadPoolExecutor(30) as asking:
        begun = time.monotonic()
        heavy = [asking.submit(server.ask, "/api/v1/count?source=endless") for _ in range(20)]
        time.sleep(0.3)
        waited = []
        for _ in range(10):
            before = time.monotonic()
            assert server.ask("/health")[0] == 200
            waited.append(time.monotonic() - before)
        answers = [future.result() for future in heavy]
    assert {status for status, _ in answers} == {503}
    assert all("retry-after: 5" in text for _, text in answers)
    assert any("this server is too busy" in text for _, text in answers)
    assert time.monotonic() - begun < 12
    assert max(waited) < 1, waited
    assert is_well(server)


@pytest.mark.parametrize(("source", "said"), [("large", "more memory than is allowed"), ("gone", "no answer")])
def test_a_process_that_fails_takes_nothing_with_it(server: Served, source: str, said: str) -> None:
    status, text = server.ask(f"/api/v1/count?source={source}")
    assert status == 503
    assert said in text
    assert is_well(server)


def test_what_is_printed_does_not_speak_into_an_answer(server: Served) -> None:
    assert '"unique": 4385920' in server.ask("/api/v1/count?source=chatty")[1]


def test_who_sends_no_request_is_let_go(server: Served) -> None:
    slow = [server.connect(said) for said in (b"", b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ", b"G") for _ in range(10)]
    begun = time.monotonic()
    assert server.ask("/health")[0] == 200
    assert {read_answer(opened)[0] for opened in slow} == {408}
    assert time.monotonic() - begun < 10
    for opened in slow:
        opened.close()


def test_a_head_that_drips_is_let_go(server: Served) -> None:
    with server.connect(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n") as opened:
        begun = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() - begun < 8:
                opened.sendall(b"a: b\r\n")
                time.sleep(0.1)
    assert time.monotonic() - begun < 8


def test_a_body_that_stops_is_let_go(server: Served) -> None:
    head = b"POST /dropped?size=30000000 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 30000000\r\n\r\n"
    uploads = [server.connect(head + b"\0" * 50_000) for _ in range(5)]
    assert server.ask("/health")[0] == 200
    assert {read_answer(opened)[0] for opened in uploads} == {408}
    for opened in uploads:
        opened.close()


def test_who_does_not_take_an_answer_is_let_go(server: Served) -> None:
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.settimeout(15)
    opened.connect(("127.0.0.1", server.port))
    asked = 400
    with suppress(ConnectionError):
        opened.sendall(b"GET /static/style.css HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * asked)
    time.sleep(4)
    _, text = read_answer(opened)
    opened.close()
    assert text.count("HTTP/1.1 200") < asked
    assert server.ask("/health")[0] == 200


def test_the_longest_silent_makes_room() -> None:
    with served(most=20) as small:
        silent = [small.connect() for _ in range(25)]
        assert small.ask("/health")[0] == 200
        assert read_answer(silent[0])[0] == 503
        for opened in silent:
            opened.close()


def test_a_stranger_s_name_is_refused(server: Served) -> None:
    assert server.ask("/health", host="rebound.example")[0] == 400
    assert "rebound.example" in server.ask("/", host="rebound.example")[1]
    assert server.ask("/health", host=f"localhost:{server.port}")[0] == 200
    with served("--trust", "weigh.example.org") as named:
        assert named.ask("/health", host="weigh.example.org")[0] == 200
        assert named.ask("/health", host="example.org")[0] == 400


def test_off_this_machine_there_is_a_rate() -> None:
    assert RATE == 300
    with served("--host", "0.0.0.0", rate=40) as public:
        statuses = [public.ask("/metrics")[0] for _ in range(41)]
        status, text = public.ask("/")
    assert set(statuses[:38]) == {200}
    assert status == 429
    assert "retry-after: " in text
