"""Laws of the HTTP API: nothing that is sent makes it fail. What its own document promises stands in ``test_api_document.py``."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from anyio.from_thread import start_blocking_portal

from benchmarks.hostile import answer, attacks, complaint
from weighbridge.web.app import create


def test_hostile_requests_are_answered_calmly() -> None:
    app = create()

    async def answers() -> set[int]:
        seen = set()
        for attack in attacks(400, seed=1):
            status, text = await answer(app, attack)
            assert complaint(status, text) is None, attack
            seen.add(status)
        return seen

    with start_blocking_portal() as portal:
        assert {200, 400, 404, 405, 422} <= portal.call(answers)


def test_a_traceback_would_be_noticed() -> None:
    assert complaint(500, "Internal Server Error") == "status 500"
    assert complaint(200, "Traceback (most recent call last)") == "a traceback"
    assert complaint(404, "root:x:0:0:") == "a file of this machine"
    assert complaint(422, "{}") is None
