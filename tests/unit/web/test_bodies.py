"""Bodies are read whole, within one cap for all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from weighbridge.web import bodies
from weighbridge.web.bodies import Bodies, BodyError, replay


def run(waited: Coroutine[Any, Any, Any]) -> Any:
    """Run on a thread of its own: a browser's tests leave a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, waited).result()


def pieces(*sizes: int, end: bool = True) -> Any:
    told = [{"type": "http.request", "body": b"x" * size, "more_body": True} for size in sizes]
    if end:
        told[-1]["more_body"] = False

    async def receive() -> Any:
        if not told:
            await asyncio.Event().wait()
        return told.pop(0)

    return receive


def assert_refused(held: Bodies, receive: Any, largest: int = 100) -> BodyError:
    with pytest.raises(BodyError) as caught:
        run(held.read(receive, largest))
    return caught.value


def test_a_body_is_read_whole_and_counted_until_it_is_let_go() -> None:
    held = Bodies(100)
    body = run(held.read(pieces(30, 0, 12), 100))
    assert (len(body), held.held) == (42, 42)
    held.release(42)
    assert held.held == 0


def test_one_too_large_one_too_many_and_one_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Bodies(100)
    assert assert_refused(held, pieces(60, 60)).status == 413
    assert held.held == 0
    run(held.read(pieces(70), 100))
    busy = assert_refused(held, pieces(20, 20))
    assert (busy.status, busy.again, held.held) == (503, 5, 70)
    monkeypatch.setattr(bodies, "PATIENCE", 0.05)
    assert assert_refused(held, pieces(10, end=False)).status == 408
    assert held.held == 70


def test_a_body_is_handed_out_once() -> None:
    async def read() -> list[Any]:
        again = replay(b"abc", pieces(0))
        return [await again(), await again()]

    first, second = run(read())
    assert (first["body"], first["more_body"], second["body"]) == (b"abc", False, b"")
