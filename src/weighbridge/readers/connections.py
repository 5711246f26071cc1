"""HTTP connections that are kept alive and reused for the ranges of a file and the files of a folder.

Every answer, head and body alike, must be there when its time is up: a server that sends a byte now and then is left. Proxies and redirects are
urllib's; what is sent to whom after a redirect is :class:`SameHost`'s.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener
from weakref import finalize

from weighbridge.core.errors import ReadError

MOST_IDLE = 16
"""Connections to one host that are kept while nothing is asked for."""

MOST_HEADS = 20
"""Heads without an answer (``100 Continue``) that may come before the one with it."""


class SameHost(HTTPRedirectHandler):
    """Follow redirects, but never take the token to another host."""

    def redirect_request(
        self, request: Request, file: IO[bytes], code: int, message: str, headers: HTTPMessage, url: str
    ) -> Request | None:
        """Return the next request, without the token if it goes elsewhere."""
        file.close()  # else urllib reads the body to its end, and it need not have one
        following = super().redirect_request(request, file, code, message, headers, url)
        if following is not None:
            old, new = urlsplit(request.full_url), urlsplit(following.full_url)
            if new.scheme not in ("http", "https") or not re.fullmatch(r"[^\s@]+", new.netloc) or not _has_port(new.netloc):
                raise ReadError("it redirects to an address that is not followed", path=request.full_url)
            if new.netloc != old.netloc or (old.scheme == "https" and new.scheme == "http"):
                following.remove_header("Authorization")
        return following


def _has_port(place: str) -> bool:
    port = place.rpartition("]")[2].rpartition(":")[2] if ":" in place.rpartition("]")[2] else ""
    return re.fullmatch(r"[0-9]{0,5}", port) is not None


def _close_all(idle: dict[tuple[object, ...], list[HTTPConnection]]) -> None:
    for kept in idle.values():
        for connection in kept:
            connection.close()


class Connections:
    """The idle connections of one source."""

    def __init__(self) -> None:
        self.idle: dict[tuple[object, ...], list[HTTPConnection]] = {}
        finalize(self, _close_all, self.idle)  # before the garbage collector comes upon open sockets

    def take(self, place: tuple[object, ...]) -> HTTPConnection | None:
        """Return an idle connection to a place, if there is one."""
        try:
            return self.idle[place].pop()
        except (KeyError, IndexError):
            return None

    def give_back(self, place: tuple[object, ...], connection: HTTPConnection) -> None:
        """Keep a connection whose answer was read to its end."""
        kept = self.idle.setdefault(place, [])
        if len(kept) < MOST_IDLE:
            kept.append(connection)
        else:
            connection.close()


class _Raw(io.RawIOBase):
    """The bytes of a connection, read until a deadline."""

    def __init__(self, connection: Any, ends: float, timeout: float) -> None:
        self._connection, self._ends, self._timeout = connection, ends, timeout
        self._raw = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there, or wait for it."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("its time is up")
        self._connection.settimeout(min(left, self._timeout))
        taken: int = self._raw.readinto(buffer)
        return taken

    def close(self) -> None:
        """Close."""
        self._raw.close()
        super().close()


class Answer(HTTPResponse):
    """A response that returns its connection to the pool on close, if it was read to its end."""

    release: Callable[[bool], None] | None = None
    heads = 0

    def _read_status(self) -> tuple[str, int, str]:
        self.heads += 1
        if self.heads > MOST_HEADS:  # http.client passes over any number of them
            raise HTTPException("one 100 Continue after the other")
        found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        return found

    def close(self) -> None:
        """Close it."""
        whole = (self.length == 0 or self.isclosed()) and not self.will_close
        super().close()
        if self.release is not None:
            release, self.release = self.release, None
            release(whole)


class _Exchange:
    """One request and its response, over a pooled or a new connection."""

    def __init__(self, connections: Connections, ends: float, timeout: float) -> None:
        self.connections, self.ends, self.timeout = connections, ends, timeout

    def open(self, request: Request, *, secure: bool, context: Any = None) -> HTTPResponse:
        """Send a request, and return its answer as far as its head has come."""
        host, tunnel = request.host, getattr(request, "_tunnel_host", None)
        if not host:
            raise URLError("no host given")
        place = (secure, host, tunnel)
        headers = {**{name: value for name, value in request.unredirected_hdrs.items() if name not in request.headers}, **request.headers}
        headers = {name.title(): value for name, value in headers.items()}
        through = {"Proxy-Authorization": headers.pop("Proxy-Authorization")} if tunnel and "Proxy-Authorization" in headers else {}
        kept = self.connections.take(place)
        if kept is not None:
            try:
                return self._ask(kept, place, request, headers)
            except (HTTPException, OSError):  # the server has closed it in the meantime
                kept.close()
        made = HTTPSConnection(host, timeout=self.timeout, context=context) if secure else HTTPConnection(host, timeout=self.timeout)
        if tunnel:
            made.set_tunnel(tunnel, headers=through)
        try:
            return self._ask(made, place, request, headers)
        except OSError as error:
            made.close()
            if isinstance(error, HTTPException):
                raise
            raise URLError(error) from None
        except BaseException:
            made.close()
            raise

    def _ask(self, connection: HTTPConnection, place: tuple[object, ...], request: Request, headers: dict[str, str]) -> HTTPResponse:
        """Send a request over a connection and return its answer, which gives the connection back once it is read whole."""
        connection.timeout = min(max(self.ends - time.monotonic(), 0.001), self.timeout)
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        connection.response_class = self._answer  # type: ignore[assignment]
        connection.request(request.get_method(), request.selector, headers=headers)
        answer = connection.getresponse()
        assert isinstance(answer, Answer)

        def release(whole: bool) -> None:
            if whole and connection.sock is not None:
                self.connections.give_back(place, connection)
            else:
                connection.close()

        answer.release = release
        answer.url = request.full_url
        answer.msg = answer.reason  # type: ignore[assignment]
        return answer

    def _answer(self, connection: Any, *rest: Any, **more: Any) -> Answer:
        made = Answer(connection, *rest, **more)
        made.fp.close()
        made.fp = io.BufferedReader(_Raw(connection, self.ends, self.timeout))
        return made


class _Plain(HTTPHandler):
    def __init__(self, exchange: _Exchange) -> None:
        super().__init__()
        self._exchange = exchange

    def http_open(self, request: Request) -> HTTPResponse:
        return self._exchange.open(request, secure=False)


class _Secure(HTTPSHandler):
    def __init__(self, exchange: _Exchange) -> None:
        super().__init__()
        self._exchange = exchange

    def https_open(self, request: Request) -> HTTPResponse:
        return self._exchange.open(request, secure=True, context=self._context)  # type: ignore[attr-defined,unused-ignore]


def opener(connections: Connections, ends: float, timeout: float) -> OpenerDirector:
    """Return a URL opener over pooled connections, with a deadline.

    Args:
        connections: Those that are kept.
        ends: When every answer must be there, by :func:`time.monotonic`.
        timeout: Seconds without a byte.
    """
    exchange = _Exchange(connections, ends, timeout)
    return build_opener(SameHost, _Plain(exchange), _Secure(exchange))


class _Stay(HTTPRedirectHandler):
    def redirect_request(
        self, request: Request, file: IO[bytes], code: int, message: str, headers: HTTPMessage, url: str
    ) -> Request | None:
        file.close()
        raise ReadError(url, path=request.full_url)


def redirected_host(url: str, timeout: float) -> str:
    """Return the host that an address redirects to, asked for without credentials; empty if it does not redirect."""
    exchange = _Exchange(Connections(), time.monotonic() + timeout, timeout)
    asked = Request(url, headers={"Range": "bytes=0-0", "User-Agent": "weighbridge"})
    try:
        build_opener(_Stay, _Plain(exchange), _Secure(exchange)).open(asked).close()
    except ReadError as error:
        host = urlsplit(error.message).netloc
        return host if host != urlsplit(url).netloc else ""
    except HTTPError as error:
        error.close()
    except (HTTPException, OSError, ValueError):
        pass  # what is wrong with the server is told by the request itself
    return ""
