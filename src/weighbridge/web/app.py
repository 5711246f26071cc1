"""The application: routes to pages and calls, with health and metrics beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.commands.table import Command
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.escape import escape_invisible
from weighbridge.core.messages import Text, error_text
from weighbridge.web.api import CALLS, answer
from weighbridge.web.middleware import Guard, Limits, in_time, problem, status_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from weighbridge.web.pool import Pool

STATIC = Path(__file__).parent / "static"


def create(limits: Limits | None = None, pool: Pool | None = None) -> Starlette:
    """Make the ASGI application.

    Args:
        limits: Hosts, sizes, time and rate; by default those of :class:`Limits`.
        pool: The processes that answer requests; without them they are answered on threads of this one.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from weighbridge.web import failures

    limits = limits or Limits()
    counted: dict[str, int] = {}
    routes = [Route("/health", _health), Route("/metrics", _metrics(counted)), Mount("/static", StaticFiles(directory=STATIC))]
    handlers: Any = {WeighbridgeError: _error_response, 404: failures.not_found, 405: _wrong_method}
    middleware = [Middleware(Guard, limits=limits), Middleware(GZipMiddleware, minimum_size=2000, compresslevel=4)]
    if pool is None:
        return Starlette(routes=[*_answers(limits, counted), *routes], middleware=middleware, exception_handlers=handlers)
    # The pool's processes have all other routes; what these import, over half of the time to start, is not needed here.
    from weighbridge.web.pool import Gate

    middleware.insert(1, Middleware(Gate, pool=pool, counted=counted))
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers, lifespan=pool.lifespan)


def _answers(limits: Limits, counted: dict[str, int]) -> list[Route]:
    """Return the routes of pages and calls."""
    from starlette.routing import Route

    from weighbridge.web import pages, upload

    return [
        Route("/", _page(pages.home, limits)),
        *(
            Route(f"/{name}", _page(page, limits), methods=["GET", "POST"] if name == "audit" else ["GET"])
            for name, page in pages.PAGES.items()
        ),
        *(Route(f"/part/{name}", _page(part, limits)) for name, part in pages.PARTS.items()),
        Route("/dropped", upload.page(limits), methods=["POST"]),
        *(Route(f"/api/v1/{call.name}", _endpoint(call, limits, counted), methods=["GET", "POST"]) for call in CALLS),
        Route("/api/v1/header", upload.call(limits), methods=["POST"]),
        Route("/api/v1/openapi.json", _openapi),
    ]


def _endpoint(call: Command, limits: Limits, counted: dict[str, int]) -> Callable[[Request], Any]:
    """Return what answers one command: its parameters from the address or a JSON body, its document as JSON."""

    async def endpoint(request: Request) -> Response:
        from starlette.responses import Response

        counted[call.name] = counted.get(call.name, 0) + 1
        given = await _parameters(request)
        if not isinstance(given, dict):
            return given
        request.state.language = given.get("lang")
        found = await in_time(lambda: escape_invisible(json.dumps(answer(call, given), ensure_ascii=False)), limits)
        if found is None:
            return problem(503, "It took too long", _timeout_text(limits), 5)
        return Response(found, media_type="application/json")

    return endpoint


def _page(page: Callable[[Request, Mapping[str, Any]], Response], limits: Limits) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        from weighbridge.web import failures, rendering

        form = await request.form(max_files=1, max_fields=20) if request.method == "POST" else {}
        found = await in_time(lambda: page(request, form), limits)
        return (
            found
            if found is not None
            else failures.failure_page(request, 503, error_text(_timeout_text(limits), rendering.language(request)))
        )

    return endpoint


def _timeout_text(limits: Limits) -> str:
    return Text("no answer within {seconds:g} seconds", seconds=limits.seconds)


async def _parameters(request: Request) -> dict[str, Any] | Response:
    """Return the parameters of a request: the address's, or the JSON object in its body."""
    if request.method in ("GET", "HEAD"):
        return dict(request.query_params)
    body = await request.body()
    if not body.strip():
        return dict(request.query_params)
    if "json" not in request.headers.get("content-type", ""):
        return problem(415, "Not JSON", "send application/json")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return problem(400, "Not JSON", "the body cannot be read as JSON")
    if not isinstance(given, dict):
        return problem(400, "Not an object", "the body must be a JSON object")
    if isinstance(given.get("config"), dict):
        given["config"] = json.dumps(given["config"])
    return {**dict(request.query_params), **given}


async def _error_response(request: Request, error: WeighbridgeError) -> Response:
    from weighbridge.web import failures

    status = status_of(error)
    if request.url.path.startswith("/api/"):
        return problem(status, type(error).__name__, error_text(error, _language(request)))
    return failures.refusal_page(request, status, error)


def _language(request: Request) -> str:
    """Return the language that a call asked for, in its address or its body; English where it asked for none there is."""
    from weighbridge.core.messages import languages

    lang = getattr(request.state, "language", None) or request.query_params.get("lang")
    return lang if lang in languages() else "en"


async def _wrong_method(request: Request, error: Exception) -> Response:
    answered = problem(405, "Not that method", f"{request.method} is not for this address")
    answered.headers["allow"] = "GET, POST"
    return answered


async def _openapi(request: Request) -> Response:
    from starlette.responses import JSONResponse

    from weighbridge import __version__
    from weighbridge.web.openapi import document

    return JSONResponse(document(__version__))


async def _health(request: Request) -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("ok\n")


def _metrics(counted: dict[str, int]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        from starlette.responses import PlainTextResponse

        lines = [f'weighbridge_calls_total{{call="{name}"}} {count}' for name, count in sorted(counted.items())]
        return PlainTextResponse("\n".join(["# TYPE weighbridge_calls_total counter", *lines, ""]))

    return endpoint
