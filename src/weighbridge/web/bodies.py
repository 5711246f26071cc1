"""Request bodies, read whole before anything is done with them: none too large, none too slow, and all together within one cap."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Receive

PATIENCE = 10.0
"""Seconds in which a body must begin to arrive at the lowest rate."""

LOWEST_RATE = 64_000
"""Bytes a second: each such piece buys a body one more second ..."""

LONGEST = 60.0
"""... up to so many seconds in all."""


class BodyError(Exception):
    """A body that is not taken: its status, what is wrong in words, and the seconds after which to try again (0: never)."""

    def __init__(self, status: int, title: str, detail: str, again: int = 0) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail, self.again = status, title, detail, again


class Bodies:
    """The bodies that are held at this moment.

    Attributes:
        most: Bytes of all of them together.
        held: Bytes held now.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    async def read(self, receive: Receive, largest: int) -> bytes:
        """Read one body; :meth:`release` its length when it is no longer needed.

        Raises:
            BodyError: It is larger than *largest*, too slow, or one too many.
        """
        pieces: list[bytes] = []
        taken, begun, clock = 0, asyncio.get_running_loop().time(), asyncio.get_running_loop().time
        try:
            while True:
                allowed = min(PATIENCE + taken / LOWEST_RATE, LONGEST)
                message = await _receive(receive, begun + allowed - clock())
                piece: bytes = message.get("body", b"")
                if taken + len(piece) > largest:
                    raise BodyError(413, "Too large", f"the body is larger than {largest:,} bytes")
                if self.held + len(piece) > self.most:
                    raise BodyError(503, "Busy", "too many bodies are under way; try again soon", 5)
                self.held += len(piece)
                taken += len(piece)
                pieces.append(piece)
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return b"".join(pieces)
        except BaseException:
            self.release(taken)
            raise

    def release(self, length: int) -> None:
        """Let go of a body of so many bytes."""
        self.held -= length


async def _receive(receive: Receive, seconds: float) -> Message:
    try:
        async with asyncio.timeout(max(seconds, 0)):
            return await receive()
    except TimeoutError:
        raise BodyError(408, "Too slow", "the body did not arrive in time") from None


def replay(body: bytes, receive: Receive) -> Receive:
    """Return what hands out a body that was read, and then waits for what else *receive* has to tell."""
    told = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": told.pop(), "more_body": False} if told else await receive()

    return again
