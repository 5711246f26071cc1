"""The pool of worker processes: a request waits briefly for a free one, and is killed when its time is up.

One process is kept for light requests, so that they are answered while heavy ones queue for the others. What looked light and is not is ended
there soon, waits for another process, and is known for heavy when it comes again.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.core.messages import Text, error_text
from weighbridge.web import failures, rendering
from weighbridge.web.api import CALLS
from weighbridge.web.frames import LENGTHS, pack
from weighbridge.web.middleware import Limits, problem
from weighbridge.web.turns import Turns, is_first, is_light

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

AT_ONCE = ("/health", "/metrics")
"""What is answered at once, whatever else is asked."""

NAMES = frozenset(call.name for call in CALLS)
MOST_WAITING = 256
"""Heavy requests that wait for a process; one more is turned away."""

MOST_LIGHT_WAITING = 2000
"""Light requests that wait; they are done soon."""

LIGHT_WAITING = 10.0
"""The longest that a light request waits: there may be hundreds before it, each of a hundredth of a second."""

LIGHT_SECONDS = 2.0
"""The longest that a request may take in the process that is kept for light ones."""

MOST_REMEMBERED = 1000
"""Addresses that are known for heavy."""

NICENESS = 5
"""By how much the processes of heavy requests stand back behind that of light ones, and behind the one that listens."""

AGAIN = 5
"""Seconds after which somebody who was turned away may try again."""

STARTING = 30
"""Seconds that a server waits for its processes before it answers anybody."""

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from weighbridge.web.worker import main; main(sys.argv[2], int(sys.argv[3]))"
)


class BusyError(Exception):
    """No process became free in time."""


class LateError(Exception):
    """An answer took too long, or its process ended."""


class WorkerAnswer(NamedTuple):
    """A response, as it is sent."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Worker(NamedTuple):
    """A process that answers requests.

    Attributes:
        process: The process.
        light: Whether it is the one kept for light requests.
    """

    process: asyncio.subprocess.Process
    light: bool


class Lane:
    """Workers that wait for requests, or requests that wait for workers."""

    def __init__(self, most: int) -> None:
        self.idle: list[Worker] = []
        self.waiting = Turns[Worker](most)


class Pool:
    """A pool of worker processes.

    Attributes:
        limits: The longest an answer may take, and the longest a request waits.
        size: How many processes there are, beside the one for light requests.
        heavy, light: The two queues.
        later: The light requests that wait until no other light one does.
        known: Addresses that looked light and were not, the latest last.
    """

    def __init__(self, limits: Limits, size: int) -> None:
        self.limits, self.size = limits, size
        self.heavy, self.light = Lane(MOST_WAITING), Lane(MOST_LIGHT_WAITING)
        self.later = Turns[Worker](MOST_LIGHT_WAITING)
        self.known: OrderedDict[str, None] = OrderedDict()
        self.processes: set[asyncio.subprocess.Process] = set()
        self.starting: set[asyncio.Task[None]] = set()
        self.closed = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self.interrupted = asyncio.Event()

    def stop_waiting(self) -> None:
        """Let a server that is told to end while it starts not wait for its processes; for a signal's handler."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.interrupted.set)

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Start the processes with the server, and end them with it; with one of each kind it can answer, and the others follow."""
        self.loop = asyncio.get_running_loop()
        self._start(light=True)
        self._start(light=False, hurried=True)
        failures.warm_up()
        try:
            await self._wait_for_the_first()
            for _ in range(self.size - 1):
                self._start(light=False)
            yield
        finally:
            self.closed = True
            for process in self.processes:
                with suppress(ProcessLookupError):
                    process.kill()
            if self.starting:  # asyncio does not end while a process is being made
                await asyncio.wait(self.starting, timeout=STARTING)
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN):
                    await asyncio.gather(*(process.wait() for process in self.processes))

    async def _wait_for_the_first(self) -> None:
        """Wait until every process that was started is ready, or nobody wants them any more."""
        ready = asyncio.gather(*self.starting, return_exceptions=True)
        interrupted = asyncio.ensure_future(self.interrupted.wait())
        await asyncio.wait((ready, interrupted), timeout=STARTING, return_when=asyncio.FIRST_COMPLETED)
        interrupted.cancel()

    async def answer(self, request: dict[str, Any], body: bytes) -> WorkerAnswer:
        """Have a process answer *request*.

        Raises:
            BusyError: None became free within ``waiting_seconds``.
            LateError: It took longer than ``seconds``.
        """
        address = f"{request['path']}?{request['query_string']}"
        if body:
            address += f" {sha256(body).hexdigest()}"
        if not is_light(request, body) or address in self.known:
            return await self._answer(await self._free(request, light=False), request, body)
        worker = await self._free(request, light=True)
        try:
            return await self._answer(worker, request, body)
        except LateError:
            self.known[address] = None
            if len(self.known) > MOST_REMEMBERED:
                self.known.popitem(last=False)
            if not worker.light:
                raise
        return await self._answer(await self._free(request, light=False), request, body)

    async def _answer(self, worker: Worker, request: dict[str, Any], body: bytes) -> WorkerAnswer:
        """Have a process answer a request in the time it may take; one that does not is ended."""
        seconds = self.limits.seconds or None
        if worker.light:
            seconds = min(seconds or LIGHT_SECONDS, LIGHT_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                head, content = await _ask(worker.process, request, body)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError) as error:
            self._end(worker)
            raise LateError from error
        except BaseException:
            self._end(worker)
            raise
        if head["last"]:
            self._end(worker)
        else:
            self._give_back(worker)
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
        return WorkerAnswer(head["status"], headers, content)

    async def _free(self, request: dict[str, Any], *, light: bool) -> Worker:
        """Return a worker that is free, or wait for one."""
        for lane in (self.light, self.heavy) if light else (self.heavy,):
            while lane.idle:
                worker = lane.idle.pop()
                if worker.process.returncode is None:
                    return worker
                self._end(worker)
        client = str((request.get("client") or ("?",))[0])
        turns = self.heavy.waiting if not light else self.light.waiting if is_first(request) else self.later
        future = turns.wait(client, asyncio.get_running_loop())
        if future is None:
            raise BusyError
        try:
            async with asyncio.timeout(LIGHT_WAITING if light else self.limits.waiting_seconds):
                return await future
        except BaseException as error:
            turns.leave(client, future)
            if future.done() and not future.cancelled():
                if isinstance(error, TimeoutError):
                    return future.result()
                self._give_back(future.result())  # who waited for it has gone
            if isinstance(error, TimeoutError):
                raise BusyError from None
            raise

    def _give_back(self, worker: Worker) -> None:
        light = (self.light.waiting, self.later)
        if not any(turns.give(worker) for turns in (light if worker.light else (self.heavy.waiting, *light))):
            (self.light if worker.light else self.heavy).idle.append(worker)

    def _end(self, worker: Worker) -> None:
        """Kill a worker and start a new one."""
        with suppress(ProcessLookupError):
            worker.process.kill()
        self.processes.discard(worker.process)
        self._start(light=worker.light)

    def _start(self, *, light: bool, hurried: bool = False) -> None:
        if not self.closed:
            task = asyncio.get_running_loop().create_task(self._start_one(light=light, hurried=hurried))
            self.starting.add(task)
            task.add_done_callback(self.starting.discard)

    async def _start_one(self, *, light: bool, hurried: bool) -> None:
        """Start a process, and give it to the pool once it says that it is ready; one that the server waits for stands back only then."""
        niceness = 0 if light else NICENESS
        hurried = hurried and hasattr(os, "setpriority")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            START,
            json.dumps(sys.path),
            json.dumps(self.limits._asdict()),
            str(0 if hurried else niceness),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        self.processes.add(process)
        if self.closed:
            process.kill()
            return
        try:
            await _read_answer(process)
        except asyncio.IncompleteReadError:  # it could not start; what it said of that stands in the log
            self.processes.discard(process)
            if not self.closed:
                await asyncio.sleep(AGAIN)
                self._start(light=light)
        else:
            if hurried:
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
            self._give_back(Worker(process, light))


async def _ask(process: asyncio.subprocess.Process, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    assert process.stdin is not None
    process.stdin.write(pack(request, body))
    await process.stdin.drain()
    return await _read_answer(process)


async def _read_answer(process: asyncio.subprocess.Process) -> tuple[dict[str, Any], bytes]:
    assert process.stdout is not None
    head, content = LENGTHS.unpack(await process.stdout.readexactly(LENGTHS.size))
    return json.loads(await process.stdout.readexactly(head)), await process.stdout.readexactly(content)


class Gate:
    """ASGI middleware: passes a request to a worker of the pool, or answers 503 if none is free."""

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
            busy = Text("this server is too busy at the moment; try again soon")
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
    shown = failures.failure_page(request, 503, error_text(detail, rendering.language(request)))
    shown.headers["retry-after"] = str(AGAIN)
    return shown
