"""Endpoints for a checkpoint dropped on the page, as a page and as JSON; either may answer which slice it still needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weighbridge.core.errors import UsageError
from weighbridge.web.header import HeaderResult, header_model, slices
from weighbridge.web.middleware import Limits, in_time, problem
from weighbridge.web.query import read_query

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from weighbridge.api.model import Model


def page(limits: Limits) -> Callable[[Request], Any]:
    """Return the endpoint that answers with the page of a model."""
    from weighbridge.web import pages

    return _endpoint(limits, lambda request, model: pages.page_of_model(request, read_query(request.query_params), model))


def call(limits: Limits) -> Callable[[Request], Any]:
    """Return the endpoint that answers with the JSON of a count."""
    return _endpoint(limits, _count)


def _count(request: Request, model: Model) -> Response:
    from starlette.responses import JSONResponse

    from weighbridge.documents import count as counting

    return JSONResponse(counting.as_json(model))


def _endpoint(limits: Limits, answer: Callable[[Request, Model], Response]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = await request.body()

        def work() -> Response:
            found = _weigh(request, body)
            return answer(request, found.model) if found.model is not None else _ask_for_more(found)

        return await in_time(work, limits) or problem(503, "It took too long", f"no answer within {limits.seconds:g} seconds", 5)

    return endpoint


def _weigh(request: Request, body: bytes) -> HeaderResult:
    query = request.query_params
    size, name = query.get("size", ""), query.get("name", "")[:200]
    if not size.isascii() or not size.isdecimal() or len(size) > 18:
        raise UsageError("size: expected the file's size in bytes")
    return header_model(slices(body, query.get("slices", ""), int(size)), int(size), name)


def _ask_for_more(found: HeaderResult) -> Response:
    assert found.wanted is not None
    offset, length = found.wanted
    answered = problem(409, "More is wanted", f"send {length:,} bytes from byte {offset:,} as well")
    detail = {**json.loads(bytes(answered.body)), "wanted": {"offset": offset, "length": length}}
    answered.body = json.dumps(detail).encode()
    answered.headers["content-length"] = str(len(answered.body))
    return answered
