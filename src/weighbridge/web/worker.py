"""A worker process that answers one request at a time, so that one that takes too long can be killed alone.

It reads requests from its standard input and writes answers to its standard output. Three things
end it: its server, when an answer takes too long; the system, when it would take more memory than is allowed, or when its server is
gone and it is still at work; and itself, once it has grown.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weighbridge.web.app import create
from weighbridge.web.frames import pack, receive
from weighbridge.web.middleware import Limits, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

MEMORY = 1_500_000_000
"""Bytes that a process may have; what asks for more is refused."""

GROWN = 400_000_000
"""Bytes beyond which a process ends after its answer, and another takes its place."""


FIRST = {
    "method": "GET",
    "path": "/",
    "root_path": "",
    "scheme": "http",
    "http_version": "1.1",
    "query_string": "",
    "headers": [("host", "localhost")],
    "server": None,
    "client": None,
}
"""What a process answers before anybody asks, so that who asks first need not wait for what all need."""


def main(given: str, niceness: int = 0) -> None:
    """Answer requests until standard input ends."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    limits = Limits(**json.loads(given))
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints shall not speak into the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, which lets what is under way finish
    _restrict()
    app = create(limits._replace(seconds=0, per_minute=0, hosts=("*",)))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_collect_answer(app, FIRST, b""))
    answers.write(pack({}, b""))  # ready
    answers.flush()
    while (request := receive(requests)) is not None:
        _alarm(int(limits.seconds) + 5)
        head, body = loop.run_until_complete(_collect_answer(app, *request))
        _alarm(0)
        if len(body) > limits.answer_bytes:
            head, body = _problem(413, "Too large", f"the answer is larger than {limits.answer_bytes:,} bytes; ask for less")
        answers.write(pack(head, body))
        answers.flush()
        if head["last"] or _resident_bytes() > GROWN:
            return


async def _collect_answer(app: ASGIApp, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Run the application on a request, and return the head and the body of what it sends; an error or too little memory is an answer too."""
    scope = {
        **request,
        "type": "http",
        "asgi": {"version": "3.0"},
        "query_string": request["query_string"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]],
    }
    scope["raw_path"] = scope["path"].encode("utf-8", "surrogatepass")
    told, sent = [body], list[Any]()

    async def receive() -> Message:
        if not told:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": told.pop(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    try:
        await app(scope, receive, send)
    except MemoryError:
        sent.clear()  # and what led here, with all that it holds, is gone when this block is left
    except Exception:
        traceback.print_exc()
        return _problem(500, "Internal error", "the server could not answer; its log says why")
    if not sent:
        return _problem(503, "Too much", "the answer would take more memory than is allowed", last=True)
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"]]
    return {"status": sent[0]["status"], "headers": headers, "last": False}, b"".join(message.get("body", b"") for message in sent[1:])


def _problem(status: int, title: str, detail: str, *, last: bool = False) -> tuple[dict[str, Any], bytes]:
    answered = problem(status, title, detail)
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answered.raw_headers]
    return {"status": status, "headers": headers, "last": last}, bytes(answered.body)


def _restrict() -> None:
    """Limit the memory of the process, where the system supports it."""
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: int) -> None:
    if sys.platform != "win32":
        signal.alarm(seconds)  # nothing handles it, so it ends the process even where Python's own code does not get to run


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
