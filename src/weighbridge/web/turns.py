"""Fair queueing of requests: one at a time for each client, quick ones told apart before they are answered."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

Given = TypeVar("Given")

HEAVY = frozenset(
    ("/audit", "/dropped", "/api/v1/audit", "/api/v1/design", "/api/v1/header", "/api/v1/solve", "/api/v1/sweep", "/api/v1/tensors")
)
"""What may take long whatever it names: a text, a file, many models, or an answer as long as a model. All else is answered within a few hundredths of a
second where it asks for a model as people build them, and an address that leads nowhere at once."""

FIRST = frozenset(
    (
        "/",
        "/model",
        "/explain",
        "/quiz",
        "/api",
        "/api/v1/count",
        "/api/v1/counts",
        "/api/v1/formula",
        "/api/v1/flops",
        "/api/v1/cache",
        "/api/v1/memory",
        "/api/v1/openapi.json",
    )
)
"""Of what is light, what is answered before the rest: the page, and a model's counts and costs."""

LONGEST = 2000
"""Bytes of a light request's address, and of its body: it names a model, or brings a config as short as people write them."""

LARGEST = re.compile(r"[0-9]{8}|(?:layer|depth|block|stage)[^&,]*[=:]\W*[0-9]{4}")
"""What no light request has in its address or body: a size of eight digits, or a thousand layers."""


def is_light(request: Mapping[str, Any], body: bytes = b"") -> bool:
    """Tell whether a request looks quick; one that only looks so is caught by its time limit.

    >>> is_light({"method": "GET", "path": "/api/v1/count", "query_string": "source=gpt2"})
    True
    >>> is_light({"method": "GET", "path": "/api/v1/count", "query_string": "source=gpt2&set.n_layer=9000"})
    False
    >>> is_light({"method": "POST", "path": "/api/v1/count", "query_string": ""}, b'{"source": "gpt2"}')
    True
    """
    if request["path"] in HEAVY:
        return False
    return all(len(text) <= LONGEST and LARGEST.search(text) is None for text in (request["query_string"], body.decode("latin-1")))


def is_first(request: Mapping[str, Any]) -> bool:
    """Tell whether a light request is answered before other light ones.

    >>> is_first({"path": "/api/v1/count"}), is_first({"path": "/nope"})
    (True, False)
    """
    return request["path"] in FIRST or request["path"].startswith("/part/")


class Turns(Generic[Given]):
    """A queue of requests that serves clients in turn, however many requests each sends.

    >>> loop = asyncio.new_event_loop()
    >>> turns = Turns[str](3)
    >>> futures = [turns.wait(client, loop) for client in ("a", "a", "b", "c")]
    >>> futures[3] is None, len(turns)
    (True, 3)
    >>> [turns.give("process") for _ in range(4)], [future.done() for future in futures[:3]]
    ([True, True, True, False], [True, True, True])
    >>> loop.close()
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.clients: OrderedDict[str, deque[asyncio.Future[Given]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(queue) for queue in self.clients.values())

    def wait(self, client: str, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Given] | None:
        """Return a future for *client*'s turn; None if the queue is full."""
        if len(self) >= self.most:
            return None
        future: asyncio.Future[Given] = loop.create_future()
        self.clients.setdefault(client, deque()).append(future)
        return future

    def leave(self, client: str, future: asyncio.Future[Given]) -> None:
        """Leave the queue."""
        queue = self.clients.get(client)
        if queue is not None and future in queue:
            queue.remove(future)
            if not queue:
                del self.clients[client]

    def give(self, given: Given) -> bool:
        """Give something to the next client; False if nobody waits."""
        while self.clients:
            client, queue = self.clients.popitem(last=False)
            future = queue.popleft()
            if queue:
                self.clients[client] = queue
            if not future.done():
                future.set_result(given)
                return True
        return False
