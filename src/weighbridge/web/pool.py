"""The processes that answer requests: a request waits for a free one, not for long, and is ended when its time is up."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.core.messages import Text, error_text
from weighbridge.web import pages
from weighbridge.web.api import CALLS
from weighbridge.web.frames import LENGTHS, packed
from weighbridge.web.middleware import Limits, problem

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

AT_ONCE = ("/health", "/metrics")
"""What is answered at once, whatever else is asked."""

NAMES = frozenset(call.name for call in CALLS)
MOST_WAITING = 256
"""Requests that wait for a process; one more is turned away."""

AGAIN = 5
"""Seconds after which somebody who was turned away may try again."""

STARTING = 30
"""Seconds that a server waits for its first process before it answers anybody."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from weighbridge.web.worker import main; main(sys.argv[2])"


class BusyError(Exception):
    """No process became free in time."""


class LateError(Exception):
    """An answer took too long, or its process ended."""


class Answered(NamedTuple):
    """An answer, as it is sent."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Pool:
    """A number of processes.

    Attributes:
        limits: The longest an answer may take, and the longest a request waits.
        size: How many processes there are.
        ended: How many had to be ended.
    """

    def __init__(self, limits: Limits, size: int) -> None:
        self.limits, self.size, self.ended = limits, size, 0
        self.idle: list[asyncio.subprocess.Process] = []
        self.processes: set[asyncio.subprocess.Process] = set()
        self.waiting: deque[asyncio.Future[asyncio.subprocess.Process]] = deque()
        self.starting: set[asyncio.Task[None]] = set()
        self.closed = False

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Start the processes with the server, and end them with it."""
        for _ in range(self.size):
            self._start()
        try:
            await asyncio.wait(self.starting, timeout=STARTING, return_when=asyncio.FIRST_COMPLETED)
            yield
        finally:
            self.closed = True
            for process in self.processes:
                with suppress(ProcessLookupError):
                    process.kill()

    async def answer(self, request: dict[str, Any], body: bytes) -> Answered:
        """Have a process answer *request*.

        Raises:
            BusyError: None became free within ``waiting_seconds``.
            LateError: It took longer than ``seconds``.
        """
        process = await self._free()
        try:
            async with asyncio.timeout(self.limits.seconds or None):
                head, content = await _ask(process, request, body)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError) as error:
            self._end(process)
            raise LateError from error
        except BaseException:
            self._end(process)
            raise
        if head["last"]:
            self._end(process)
        else:
            self._give_back(process)
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
        return Answered(head["status"], headers, content)

    async def _free(self) -> asyncio.subprocess.Process:
        while self.idle:
            process = self.idle.pop()
            if process.returncode is None:
                return process
            self._end(process)
        if len(self.waiting) >= MOST_WAITING:
            raise BusyError
        future: asyncio.Future[asyncio.subprocess.Process] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        try:
            async with asyncio.timeout(self.limits.waiting_seconds):
                return await future
        except TimeoutError:
            if future.done() and not future.cancelled():
                return future.result()
            raise BusyError from None

    def _give_back(self, process: asyncio.subprocess.Process) -> None:
        while self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(process)
                return
        self.idle.append(process)

    def _end(self, process: asyncio.subprocess.Process) -> None:
        """End a process, and start another in its place."""
        with suppress(ProcessLookupError):
            process.kill()
        self.processes.discard(process)
        self.ended += 1
        self._start()

    def _start(self) -> None:
        if not self.closed:
            task = asyncio.get_running_loop().create_task(self._started())
            self.starting.add(task)
            task.add_done_callback(self.starting.discard)

    async def _started(self) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", START, json.dumps(sys.path), json.dumps(self.limits._asdict()),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        self.processes.add(process)
        if self.closed:
            process.kill()
            return
        try:
            await _heard(process)
        except asyncio.IncompleteReadError:  # it could not start; what it said of that stands in the log
            self.processes.discard(process)
            await asyncio.sleep(AGAIN)
            self._start()
        else:
            self._give_back(process)


async def _ask(process: asyncio.subprocess.Process, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    assert process.stdin is not None
    process.stdin.write(packed(request, body))
    await process.stdin.drain()
    return await _heard(process)


async def _heard(process: asyncio.subprocess.Process) -> tuple[dict[str, Any], bytes]:
    assert process.stdout is not None
    head, content = LENGTHS.unpack(await process.stdout.readexactly(LENGTHS.size))
    return json.loads(await process.stdout.readexactly(head)), await process.stdout.readexactly(content)


class Gate:
    """ASGI middleware: hands a request to a process of the pool, or says that there is none to be had."""

    def __init__(self, app: ASGIApp, pool: Pool, counted: dict[str, int]) -> None:
        self.app, self.pool, self.counted = app, pool, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, whose body stands ready."""
        if scope["type"] != "http" or scope["path"] in AT_ONCE or scope["path"].startswith("/static/"):
            await self.app(scope, receive, send)
            return
        name = scope["path"].removeprefix("/api/v1/")
        if name in NAMES:
            self.counted[name] = self.counted.get(name, 0) + 1
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        try:
            answered = await self.pool.answer(_request(scope), body)
        except BusyError:
            busy = Text("too much is asked of this server at the moment; try again soon")
            await _refusal(scope, "Busy", busy)(scope, receive, send)
        except LateError:
            late = Text("no answer within {seconds:g} seconds", seconds=self.pool.limits.seconds)
            await _refusal(scope, "It took too long", late)(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": answered.status, "headers": answered.headers})
            await send({"type": "http.response.body", "body": answered.body})


def _request(scope: Scope) -> dict[str, Any]:
    """Return what a process needs to know of a request."""
    return {
        "method": scope["method"],
        "path": scope["path"],
        "root_path": scope.get("root_path", ""),
        "scheme": scope["scheme"],
        "http_version": scope["http_version"],
        "query_string": scope["query_string"].decode("latin-1"),
        "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        "server": scope.get("server"),
        "client": scope.get("client"),
    }


def _refusal(scope: Scope, title: str, detail: str) -> Response:
    """Return the error as the address asks for it: problem+json for a call, a page for a page."""
    from starlette.requests import Request

    if scope["path"].startswith("/api/"):
        return problem(503, title, str(detail), AGAIN)
    request = Request(scope)
    shown = pages.failed(request, 503, error_text(detail, pages.language(request)))
    shown.headers["retry-after"] = str(AGAIN)
    return shown
