"""The door answers for the server's health by itself, and leads everybody else in, unread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from weighbridge.web import door
from weighbridge.web.door import Door, answer_health

if not hasattr(socket, "send_fds"):
    pytest.skip("sockets cannot be handed on here", allow_module_level=True)

HEALTH = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


class Entrance:
    """A door, its address, and the server's end of the channel."""

    def __init__(self, most: int = 10, patience: float = 5.0) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.server, inner = socket.socketpair()
        self.server.settimeout(5)
        self.door = Door(self.listener, inner, most, patience, ())
        self.thread = threading.Thread(target=self.door.serve)
        self.thread.start()

    def connect(self, said: bytes = b"") -> socket.socket:
        opened = socket.create_connection(self.listener.getsockname(), 5)
        opened.sendall(said)
        return opened

    def led_in(self) -> bytes:
        """Return what the next connection says that is led in."""
        _, (number,), _, _ = socket.recv_fds(self.server, 1, 1)
        with socket.socket(fileno=number) as accepted:
            accepted.setblocking(True)
            return accepted.recv(1000)

    def close(self) -> None:
        self.server.close()
        self.thread.join(5)
        self.listener.close()
        self.door.server.close()
        self.door.watched.close()
        assert not self.thread.is_alive()


@pytest.fixture
def entrance() -> Iterator[Entrance]:
    made = Entrance()
    yield made
    made.close()


def test_health_is_answered_at_the_door_and_the_rest_is_led_in(entrance: Entrance) -> None:
    with entrance.connect(HEALTH) as kept, entrance.connect(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"):
        assert kept.recv(1000).endswith(b"\r\n\r\nok\n")
        assert entrance.led_in().startswith(b"GET / ")
        kept.sendall(HEALTH.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        assert b"connection: close" in kept.recv(1000)
        assert kept.recv(1000) == b""


@pytest.mark.parametrize(
    "said",
    [
        b"HEAD /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /health HTTP/1.0\r\n\r\n",
        HEALTH[:-1],
        HEALTH + HEALTH,
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 3\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n x: y\r\n\r\n",
        HEALTH[:-4] + b"\r\nx: " + b"y" * 4000 + b"\r\n\r\n",
        b"GET /health?a HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"\r\n\r\n",
    ],
)
def test_what_is_not_plainly_that_request_is_left_to_what_reads_http(said: bytes) -> None:
    assert answer_health(said, ()) is None


def test_a_server_without_a_sign_of_life_is_not_answered_for(entrance: Entrance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "STILL", 0.0)
    with entrance.connect(HEALTH):
        assert entrance.led_in() == HEALTH


def test_who_says_nothing_is_let_go() -> None:
    entrance = Entrance(most=2, patience=0.2)
    with entrance.connect() as first, entrance.connect() as second, entrance.connect() as third:
        begun = time.monotonic()
        assert first.recv(1000).startswith(b"HTTP/1.1 503 ")
        assert [silent.recv(1000)[:13] for silent in (second, third)] == [b"HTTP/1.1 408 "] * 2
        assert time.monotonic() - begun < 4
    entrance.close()
