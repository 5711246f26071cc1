"""The server as a process: it tells its address when it can be reached, finishes what is under way, and says what it lacks."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra web is not installed")

from tests.unit.web.served import served
from weighbridge.cli import main

ROOT = Path(__file__).parents[3]


@pytest.fixture
def started() -> Iterator[tuple[subprocess.Popen[str], str]]:
    with served() as server:
        yield server.process, f"http://127.0.0.1:{server.port}/"


def test_a_stop_lets_what_is_under_way_finish(started: tuple[subprocess.Popen[str], str]) -> None:
    server, base = started
    answers: list[Any] = []

    def ask() -> None:
        with urllib.request.urlopen(f"{base}api/v1/count?source=slow", timeout=20) as answer:
            answers.append(json.load(answer))

    with urllib.request.urlopen(f"{base}health", timeout=20) as answer:
        assert answer.read() == b"ok\n"
    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.4)
    server.send_signal(signal.SIGTERM)
    asking.join(20)
    assert answers[0]["parameters"]["unique"] == 4_385_920
    assert server.wait(20) in (0, -signal.SIGTERM)
    assert server.stderr is not None
    assert "Traceback" not in server.stderr.read()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{base}health", timeout=5)


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", "--no-browser", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot listen on 127.0.0.1 port" in capsys.readouterr().err
    assert main(["serve", "--no-browser", "--port", "99999"]) == 2
    assert "expected a port from 0 to 65535, found '99999'" in capsys.readouterr().err


def test_what_stands_in_deploy_names_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    service = (ROOT / "deploy" / "weighbridge.service").read_text()
    line = next(line for line in service.splitlines() if line.startswith("ExecStart="))
    container = next(line for line in (ROOT / "deploy" / "Containerfile").read_text().splitlines() if line.startswith("CMD"))
    used = set(re.findall(r"--[a-z-]+", line + container))
    assert used
    assert used <= known


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_address_that_cannot_be_told_ends_the_server_in_a_line() -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "weighbridge", "serve", "--port", "0", "--no-browser", "--workers", "1"]
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (2, "weigh: a file: No space left on device\n")


def test_a_server_that_is_told_to_end_while_it_starts_does_not_wait_for_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    from weighbridge.web import pool
    from weighbridge.web.middleware import Limits

    monkeypatch.setattr(pool, "START", "import time; time.sleep(60)")

    async def start() -> float:
        made = pool.Pool(Limits(), 2)
        asyncio.get_running_loop().call_later(0.1, made.stop_waiting)
        before = time.monotonic()
        async with made.lifespan(None):
            pass
        assert not made.starting
        assert all(process.returncode is not None for process in made.processes)
        return time.monotonic() - before

    with ThreadPoolExecutor(1) as alone:  # a browser's tests may have left a loop running in this thread
        assert alone.submit(asyncio.run, start()).result() < 20
