"""What stands between the network and the library: limits, headers, and errors as problem+json."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from weighbridge.core.errors import SourceError, UsageError, WeighbridgeError
from weighbridge.web.query import FETCHES

if TYPE_CHECKING:
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Result = TypeVar("Result")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADER_PATHS = ("/dropped", "/api/v1/header")
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


class Limits(NamedTuple):
    """What one client may ask of the server.

    Attributes:
        body_bytes: The largest request body.
        header_bytes: The largest body that holds slices of a checkpoint's header.
        seconds: The longest an answer may take.
        per_minute: Requests of one client in a minute; 0 is no limit.
        fetches: Whether a hub's id may be looked up on the hub.
    """

    body_bytes: int = 2_000_000
    header_bytes: int = 32_000_000
    seconds: float = 10.0
    per_minute: int = 0
    fetches: bool = False


def problem(status: int, title: str, detail: str) -> JSONResponse:
    """Return an error as RFC 9457 describes it."""
    from starlette.responses import JSONResponse

    answer = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(answer, status, media_type="application/problem+json")


def status_of(error: WeighbridgeError) -> int:
    """Return the status that tells what kind of error it is.

    >>> status_of(UsageError("x"))
    400
    """
    return 404 if isinstance(error, SourceError) else 400 if isinstance(error, UsageError) else 422


async def in_time(work: Callable[[], Result], limits: Limits) -> Result | None:
    """Run *work* on a thread and return what it returns, or None if it took too long."""
    import anyio

    with anyio.move_on_after(limits.seconds):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    return None


class Guard:
    """ASGI middleware: security headers on every answer, no body beyond the limit, no client beyond its rate."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in HEADERS if n not in names)]
            await send(message)

        FETCHES.set(self.limits.fetches)
        refusal = self._refused(scope)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self.app(scope, _limited(receive, self._most(scope)), guarded)

    def _most(self, scope: Scope) -> int:
        return self.limits.header_bytes if scope["path"] in HEADER_PATHS else self.limits.body_bytes

    def _refused(self, scope: Scope) -> JSONResponse | None:
        if len(scope.get("query_string", b"")) > 64_000:
            return problem(413, "Too large", "the address is longer than 64,000 bytes")
        length = dict(scope["headers"]).get(b"content-length", b"0")
        most = self._most(scope)
        if length.isdigit() and (len(length) > 18 or int(length) > most):
            return problem(413, "Too large", f"the body is larger than {most:,} bytes")
        if self.limits.per_minute and not self._within_rate(scope):
            return problem(429, "Too many requests", f"at most {self.limits.per_minute} a minute")
        return None

    def _within_rate(self, scope: Scope) -> bool:
        """Count a client's requests in the current minute; only the latest ten thousand clients are remembered."""
        client = (scope.get("client") or ("?",))[0]
        minute = time.monotonic() // 60
        since, count = self.seen.pop(client, (minute, 0))
        self.seen[client] = (minute, 1 if since != minute else count + 1)
        while len(self.seen) > 10_000:
            self.seen.popitem(last=False)
        return self.seen[client][1] <= self.limits.per_minute


class TooLargeError(Exception):
    """A body that turned out larger than it said, or than is allowed."""


def _limited(receive: Receive, most: int) -> Receive:
    taken = 0

    async def limited() -> Any:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise TooLargeError
        return message

    return limited
