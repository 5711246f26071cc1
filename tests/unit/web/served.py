"""A server as a process of its own, with limits so short that a test need not wait; some of its models take their time."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SRC = Path(__file__).parents[3] / "src"

WORKER = """
import sys, time, weighbridge.web.app as app
answer = app.answer
def odd(call, given):
    match given.get("source"):
        case "endless":
            while True: pass
        case "slow": time.sleep(1)
        case "large": bytearray(4_000_000_000)
        case "gone":
            import os
            os._exit(1)
        case "chatty": print("x" * 1000)
    return answer(call, {**given, "source": "bert-tiny"})
app.answer = odd
"""
"""What the processes that answer do before they begin."""

SERVER = """
import sys
from weighbridge.web import bodies, connections, pool, serve
serve.RATE = {rate}
pool.LIGHT_SECONDS = {light}
connections.HEAD_SECONDS, connections.WRITE_SECONDS, bodies.PATIENCE, connections.MOST = 1.0, 1.0, 1.0, {most}
pool.START = pool.START.replace("from weighbridge.web.worker", {worker!r}.replace("\\n", chr(10)) + chr(10) + "from weighbridge.web.worker")
from weighbridge.cli import main
sys.exit(main(["serve", "--port", "0", "--no-browser", *sys.argv[1:]]))
"""


class Served(NamedTuple):
    """A server that runs."""

    process: subprocess.Popen[str]
    port: int

    def connect(self, said: bytes = b"") -> socket.socket:
        """Open a connection and say something."""
        opened = socket.create_connection(("127.0.0.1", self.port), timeout=15)
        opened.sendall(said)
        return opened

    def ask(self, address: str, *, host: str = "127.0.0.1") -> tuple[int, str]:
        """Ask for an address; return the status, and head and body as they came."""
        with self.connect(f"GET {address} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode()) as opened:
            return read_answer(opened)


def read_answer(opened: socket.socket) -> tuple[int, str]:
    """Return all that a server says until it closes: the status (0 if it says nothing), and the text."""
    said = b""
    try:
        while more := opened.recv(65536):
            said += more
    except ConnectionError:
        pass
    return int(said[9:12] or b"0"), said.decode("utf-8", "replace")


@contextmanager
def served(*options: str, most: int = 100, light: float = 2.0, rate: int = 300) -> Iterator[Served]:
    """Start a server, and stop it at the end."""
    code = SERVER.format(most=most, worker=WORKER, light=light, rate=rate)
    with subprocess.Popen(
        [sys.executable, "-c", code, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=SRC
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[^:]+:(\d+)/", process.stdout.readline())
            assert found, process.stderr and process.stderr.read()
            yield Served(process, int(found[1]))
        finally:
            process.kill()
