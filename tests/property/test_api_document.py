"""What the API's own document promises holds for whatever is sent; a sweep, since it takes seconds to read the document."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from weighbridge.web.app import create

pytestmark = pytest.mark.sweep
LAWS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.unsupported_method,
]


schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", create())


@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_document_is_kept(case: Any) -> None:
    """Schemathesis raises where an answer breaks one of the laws; beyond them, each says what it is."""
    answer = case.call_and_validate(checks=LAWS)
    assert answer.headers["content-type"][0]
