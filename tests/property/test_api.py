"""Laws of the HTTP API: what its own document promises holds for whatever is sent, and nothing sent makes it fail."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import schemathesis
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from benchmarks.hostile import answer, attacks, complaint
from weighbridge.web.app import create

LAWS = [
    not_a_server_error, checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance,
    checks.unsupported_method,
]  # fmt: skip


schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", create())


@pytest.mark.sweep
@schema.parametrize()
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_document_is_kept(case: Any) -> None:
    """Schemathesis raises where an answer breaks one of the laws; beyond them, each says what it is."""
    answer = case.call_and_validate(checks=LAWS)
    assert answer.headers["content-type"][0]


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
