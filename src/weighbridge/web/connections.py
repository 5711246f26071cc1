"""Connections that keep nobody waiting: who sends no request, or does not take its answer, is let go; so is the slowest when there are too many.

Requests that come all at once are taken in a few at a time, and between them the server looks who else is there: ``/health`` passes
them, where it is not answered at the door (``door.py``) already.

uvicorn itself bounds only the time between two requests of one connection.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Any, cast

from weighbridge.web.door import FULL, LATE

HEAD_SECONDS = 10.0
"""The longest a request's head may take to arrive."""

WRITE_SECONDS = 20.0
"""The longest that a client may take nothing of what was sent to it."""

MOST = 3000
"""Connections at one time."""

TAKEN_AT_ONCE = 8
"""Requests that are taken in before the server looks again who is there."""

FIRST = b"GET /health "
"""How a request begins that is taken in before all others."""


def connection_class(most: int) -> type[asyncio.Protocol]:
    """Return the protocol of a server with at most so many connections at one time."""
    # The class stands in the function because uvicorn is an extra, and because all connections of one server share what follows.
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: OrderedDict[Any, None] = OrderedDict()
    arrived: deque[Any] = deque()

    def accept_next(loop: asyncio.AbstractEventLoop) -> None:
        try:
            for _ in range(min(TAKEN_AT_ONCE, len(arrived))):
                arrived.popleft().take()
        finally:
            if arrived:
                loop.call_soon(accept_next, loop)

    class Connection(H11Protocol):
        """One connection; *silent* are those of which no request is under way, the one that has been so for longest first."""

        _reading: asyncio.TimerHandle | None = None
        _writing: asyncio.TimerHandle | None = None
        _arrived: bytes | None = None
        _lost = False

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Begin to wait for a request."""
            super().connection_made(transport)
            if len(self.connections) > most:
                if not silent:
                    self._leave(FULL)
                    return
                next(iter(silent))._leave(FULL)
            self._watch()

        def data_received(self, data: bytes) -> None:
            """Take what came; a new request has its turn after those that came before it."""
            if data.startswith(FIRST) or (self.cycle is not None and not self.cycle.response_complete):
                super().data_received(data)
                self._watch()
                return
            self._arrived = data
            self.transport.pause_reading()
            arrived.append(self)
            if len(arrived) == 1:
                self.loop.call_soon(accept_next, self.loop)

        def take(self) -> None:
            """Take in the request whose turn it is."""
            data, self._arrived = self._arrived, None
            if data is None or self.transport.is_closing():
                return
            if not self.flow.read_paused:
                self.transport.resume_reading()
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            """Wait for the next request."""
            super().on_response_complete()
            self._watch()
            if self.transport.is_closing():
                self.loop.call_later(WRITE_SECONDS, self._abort)

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget it."""
            self._lost = True
            self._stop_head_timer()
            self._stop_write_timer()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            """Begin to wait for the client to take what was sent."""
            super().pause_writing()
            self._stop_write_timer()
            self._writing = self.loop.call_later(WRITE_SECONDS, self._abort)

        def resume_writing(self) -> None:
            """Go on."""
            super().resume_writing()
            self._stop_write_timer()

        def _watch(self) -> None:
            """Time the head of a request, from the moment when the one before it was answered."""
            if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
                self._stop_head_timer()
            elif self not in silent:
                silent[self] = None
                self._reading = self.loop.call_later(HEAD_SECONDS, self._leave, LATE)

        def _stop_head_timer(self) -> None:
            silent.pop(self, None)
            if self._reading is not None:
                self._reading.cancel()
                self._reading = None

        def _stop_write_timer(self) -> None:
            if self._writing is not None:
                self._writing.cancel()
                self._writing = None

        def _abort(self) -> None:
            if not self._lost:  # one that is lost has no loop any more to be closed in
                self.transport.abort()

        def _leave(self, last: bytes) -> None:
            """Say why, unless a connection was only kept open, and close."""
            self._stop_head_timer()
            if self.transport.is_closing():
                return
            buffered = cast(Any, self.conn).trailing_data[0]
            if last is FULL or buffered or self.cycle is None:
                self.transport.write(last)
            self.transport.close()
            self.loop.call_later(2, self._abort)

    return Connection
