"""The acceptor: a small process that accepts connections, answers ``/health`` itself and passes all others to the server.

A process that is busy has to wait for its turn wherever others want a processor too, and one that sleeps is woken at once. So the one that tells
whether the server is well does nothing else: it hands each connection on (``SCM_RIGHTS``) as soon as something has been said on it, unread. It
answers for the server only while that gives signs of life, and ends with it.
"""

from __future__ import annotations

import selectors
import signal
import socket
import sys
import time
from collections import OrderedDict, deque
from contextlib import suppress

from weighbridge.web.hosts import is_trusted
from weighbridge.web.security_headers import HEADERS

ACCEPTED_AT_ONCE = 200
"""Connections that are accepted before the door looks again who has said something."""

LED_IN_AT_ONCE = 20
"""Connections that are handed on before it looks."""

FIRST = b"GET /health HTTP/1.1\r\n"
"""How a request begins that is answered here."""

LONGEST = 4000
"""Bytes of such a request; a longer one is led in."""

BEAT = 1.0
"""Seconds between two signs of life of the server."""

STILL = 10.0
"""Seconds without one after which the door does not answer for it: whoever asks for its health is led in, and waits."""

HEALTHY = b"ok\n"
"""What a server says that is well."""

LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
"""What is said to who said nothing for too long, and to whom there is no room for."""


def answer_health(data: bytes, hosts: tuple[str, ...]) -> bytes | None:
    r"""Return the answer to a request for ``/health`` that came in one piece; None for all else, which is read as HTTP is.

    >>> answer_health(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", ())[:17]
    b'HTTP/1.1 200 OK\r\n'
    >>> answer_health(b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", ()) is None
    True
    """
    if not data.startswith(FIRST) or len(data) > LONGEST or data.find(b"\r\n\r\n") != len(data) - 4:
        return None
    said: dict[bytes, bytes] = {}
    for line in data[len(FIRST) : -4].split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or name.lower() in said or not name.replace(b"-", b"").isalnum():
            return None
        said[name.lower()] = value.strip()
    if b"host" not in said or not said.keys().isdisjoint((b"content-length", b"transfer-encoding", b"upgrade", b"expect")):
        return None
    if not is_trusted(said[b"host"].decode("latin-1"), hosts):
        return None
    own = (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(HEALTHY)), (b"date", _date())
    closing = (b"connection: close",) if said.get(b"connection", b"").lower() == b"close" else ()
    return b"\r\n".join((b"HTTP/1.1 200 OK", *(b"%b: %b" % header for header in (*own, *HEADERS)), *closing, b"", HEALTHY))


def _date() -> bytes:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode()


class Door:
    """Accepts connections, times out idle ones, and passes the others on."""

    def __init__(self, listener: socket.socket, server: socket.socket, most: int, patience: float, hosts: tuple[str, ...]) -> None:
        self.listener, self.server, self.most, self.patience, self.hosts = listener, server, most, patience, hosts
        self.silent: OrderedDict[socket.socket, tuple[float, bool]] = OrderedDict()
        self.going_in: deque[socket.socket] = deque()
        self.beaten = time.monotonic()
        self.watched = selectors.DefaultSelector()
        for own in (listener, server):
            own.setblocking(False)
            self.watched.register(own, selectors.EVENT_READ)

    def serve(self) -> None:
        """Run until the server ends."""
        while True:
            crowded = False
            for key, _ in self.watched.select(self._patience()):
                if key.fileobj is self.server:
                    if not self._feel_pulse():
                        return
                elif key.fileobj is self.listener:
                    crowded = self._accept()
                else:
                    assert isinstance(key.fileobj, socket.socket)
                    self._look(key.fileobj)
            self._dismiss()
            if not crowded:
                self._lead_in()

    def _patience(self) -> float | None:
        if self.going_in:
            return 0.002
        return self.patience / 10 if self.silent else None

    def _feel_pulse(self) -> bool:
        """Read the server's heartbeat; tell whether it is alive."""
        self.beaten = time.monotonic()
        with suppress(BlockingIOError):
            return bool(self.server.recv(4096))
        return True

    def _accept(self) -> bool:
        """Accept pending connections; tell whether there are more."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                caller, _ = self.listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return False
            except OSError:  # no more files may be open: who has been silent for longest makes room
                self._let_go(next(iter(self.silent), None), FULL)
                time.sleep(0.01)
                return False
            caller.setblocking(False)
            if len(self.silent) >= self.most:
                self._let_go(next(iter(self.silent)), FULL)
            self._look(caller)
        return True

    def _look(self, caller: socket.socket) -> None:
        """Peek at a connection: answer it, queue it for the server, or wait for more."""
        try:
            data = caller.recv(LONGEST + 1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            if caller not in self.silent:
                self._watch(caller, False)
            return
        except OSError:
            data = b""
        if not data:
            self._let_go(caller)
            return
        answered = answer_health(data, self.hosts) if time.monotonic() - self.beaten < STILL else None
        if answered is None:
            self._forget(caller)
            self.going_in.append(caller)
            return
        try:
            caller.recv(len(data))
            whole = caller.send(answered) == len(answered)
        except OSError:
            whole = False
        self._forget(caller)
        if not whole or b"\r\nconnection: close\r\n" in answered:
            self._let_go(caller)
        else:
            self._watch(caller, True)

    def _watch(self, caller: socket.socket, answered: bool) -> None:
        self.silent[caller] = time.monotonic() + self.patience, answered
        self.watched.register(caller, selectors.EVENT_READ)

    def _forget(self, caller: socket.socket) -> None:
        if self.silent.pop(caller, None) is not None:
            self.watched.unregister(caller)

    def _dismiss(self) -> None:
        """Close connections that have been idle for too long."""
        now = time.monotonic()
        while self.silent:
            caller, (until, answered) = next(iter(self.silent.items()))
            if until > now:
                return
            self._let_go(caller, b"" if answered else LATE)

    def _let_go(self, caller: socket.socket | None, last: bytes = b"") -> None:
        if caller is not None:
            self._forget(caller)
            with suppress(OSError):
                caller.send(last)
            caller.close()

    def _lead_in(self) -> None:
        """Pass queued connections to the server, as long as it takes them."""
        for _ in range(min(LED_IN_AT_ONCE, len(self.going_in))):
            try:
                socket.send_fds(self.server, [b"."], [self.going_in[0].fileno()])
            except BlockingIOError:
                return
            except BrokenPipeError:
                sys.exit(0)
            except OSError:  # too many under way at once
                return
            self.going_in.popleft().close()


def main(listener: str, server: str, most: str, patience: str, *hosts: str) -> None:
    """Run the acceptor with two file descriptors: a listening socket, and one that leads to the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, which lets what is under way finish
    with suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * int(most)) if hard >= 0 else 4 * int(most), hard))
    Door(socket.socket(fileno=int(listener)), socket.socket(fileno=int(server)), int(most), float(patience), hosts).serve()
