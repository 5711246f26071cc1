"""ASGI middleware: allowed hosts, rate limits, body sizes, timeouts, security headers; errors as problem+json."""

from __future__ import annotations

import ctypes
import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from weighbridge.core.errors import SourceError, UsageError, WeighbridgeError
from weighbridge.web.bodies import Bodies, BodyError, replay
from weighbridge.web.hosts import is_trusted
from weighbridge.web.query import FETCHES
from weighbridge.web.security_headers import HEADERS

if TYPE_CHECKING:
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Result = TypeVar("Result")
HEADER_PATHS = ("/dropped", "/api/v1/header")
MOST_CLIENTS = 10_000
"""Only so many of the latest clients have their requests counted."""


class Limits(NamedTuple):
    """What one client may ask of the server.

    Attributes:
        body_bytes: The largest request body.
        header_bytes: The largest body that holds slices of a checkpoint's header.
        bodies_bytes: All bodies that are held at one time.
        answer_bytes: The largest answer of a process of its own.
        seconds: The longest an answer may take; 0 where another process sees to that.
        waiting_seconds: The longest a request waits for a process to be free.
        per_minute: Requests of one client in a minute; 0 is no limit.
        fetches: Whether a hub's id may be looked up on the hub.
        hosts: The names this server goes by, beside ``localhost`` and addresses; ``testserver`` is what test clients call it.
    """

    body_bytes: int = 2_000_000
    header_bytes: int = 32_000_000
    bodies_bytes: int = 64_000_000
    answer_bytes: int = 64_000_000
    seconds: float = 10.0
    waiting_seconds: float = 3.0
    per_minute: int = 0
    fetches: bool = False
    hosts: tuple[str, ...] = ("testserver",)


def problem(status: int, title: str, detail: str, again: int = 0) -> JSONResponse:
    """Return an error as RFC 9457 describes it, with the seconds after which to try *again*, if that can help."""
    from starlette.responses import JSONResponse

    answer = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    headers = {"retry-after": str(again)} if again else {}
    return JSONResponse(answer, status, headers, media_type="application/problem+json")


def status_of(error: WeighbridgeError) -> int:
    """Return the status that tells what kind of error it is.

    >>> status_of(UsageError("x"))
    400
    """
    return 404 if isinstance(error, SourceError) else 400 if isinstance(error, UsageError) else 422


class _OutOfTime(BaseException):
    """Raised inside a thread whose time is up; a BaseException, so that no ``except Exception`` catches it."""


async def in_time(work: Callable[[], Result], limits: Limits) -> Result | None:
    """Run *work* on a thread and return what it returns; None if it took too long, and then its thread is stopped."""
    if not limits.seconds:
        return work()
    import anyio

    lock, running = threading.Lock(), [0]

    def run() -> Result | None:
        running[0] = threading.get_ident()
        try:
            return work()
        except _OutOfTime:
            return None
        finally:
            with lock:
                running[0] = 0

    with anyio.move_on_after(limits.seconds):
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    with lock:
        if running[0]:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running[0]), ctypes.py_object(_OutOfTime))
    return None


class Guard:
    """ASGI middleware: security headers on every answer; no foreign host, no body beyond the limit, no client beyond its rate."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.bodies = Bodies(limits.bodies_bytes)
        self.seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in HEADERS if n not in names)]
            await send(message)

        FETCHES.set(self.limits.fetches)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
        elif scope["method"] == "POST":
            await self._with_body(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a request's body, within what all bodies may take together, before the application sees it."""
        try:
            body = await self.bodies.read(receive, self._most(scope))
        except BodyError as error:
            refusal = problem(error.status, error.title, error.detail, error.again)
            refusal.headers["connection"] = "close"  # what is still to come of the body is not waited for
            await refusal(scope, receive, send)
            return
        length = len(body)
        try:
            await self.app(scope, replay(body, receive), send)
        finally:
            self.bodies.release(length)

    def _most(self, scope: Scope) -> int:
        """Return how many bytes a body may have: a header of a checkpoint is larger than a config."""
        return self.limits.header_bytes if scope["path"] in HEADER_PATHS else self.limits.body_bytes

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """Return why a request is refused by its headers alone, or None."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"localhost").decode("latin-1")
        if not is_trusted(host, self.limits.hosts):
            return problem(400, "Unknown host", f"this server does not go by the name {host[:100]!a}; see weigh serve --trust")
        if len(scope.get("query_string", b"")) > 64_000:
            return problem(413, "Too large", "the address is longer than 64,000 bytes")
        length = headers.get(b"content-length", b"0")
        most = self._most(scope)
        if length.isdigit() and (len(length) > 18 or int(length) > most):
            return problem(413, "Too large", f"the body is larger than {most:,} bytes")
        if self.limits.per_minute and not self._within_rate(scope):
            again = 60 - int(time.monotonic() % 60)
            return problem(429, "Too many requests", f"at most {self.limits.per_minute} a minute", again)
        return None

    def _within_rate(self, scope: Scope) -> bool:
        """Count a client's requests in the current minute."""
        client = _client(scope)
        minute = time.monotonic() // 60
        since, count = self.seen.pop(client, (minute, 0))
        self.seen[client] = (minute, 1 if since != minute else count + 1)
        while len(self.seen) > MOST_CLIENTS:
            self.seen.popitem(last=False)
        return self.seen[client][1] <= self.limits.per_minute


def _client(scope: Scope) -> str:
    """Return the client that a request counts for: its IPv4 address, or its IPv6 network."""
    client: str = (scope.get("client") or ("?",))[0]
    if ":" not in client:
        return client
    try:
        return str(ipaddress.ip_network(f"{client.partition('%')[0]}/64", strict=False))
    except ValueError:
        return client
