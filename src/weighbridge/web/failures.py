"""Pages for refused requests: the reason, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weighbridge.core.errors import ConfigError, WeighbridgeError
from weighbridge.core.messages import error_text, mark, translator
from weighbridge.web.offers import Offer, offers
from weighbridge.web.query import DEFAULT, Query, read_query
from weighbridge.web.rendering import language, render_page, templates
from weighbridge.web.strings import STRINGS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


HINTS = {
    'add "model_type", such as "bert", or name a class with --class': mark('add "model_type", such as "bert"'),
    "weigh models lists those known; with torch and transformers installed, --via transformers counts any class": mark(
        "the page Models lists those known"
    ),
}
"""What the page advises where the command line would speak of its options."""


def refusal_page(request: Request, status: int, error: WeighbridgeError) -> Response:
    """Show why a request was refused, and what to do instead."""
    hint = HINTS.get(str(getattr(error, "hint", "")))
    if hint and isinstance(error, ConfigError):
        error = ConfigError(error.message, key=error.key, hint=hint)
    detail = error_text(error, language(request))
    try:
        found = offers(read_query(request.query_params), error) if request.url.path in ("/part/where", "/model") else []
    except WeighbridgeError:
        found = []
    return failure_page(request, status, detail, found)


def failure_page(request: Request, status: int, detail: str, ways: Sequence[Offer] = ()) -> Response:
    """Show what was wrong with a request, with what was asked kept in the form."""
    given = request.query_params
    view = {
        "detail": detail,
        "given": given.get("source", DEFAULT)[:200],
        "config": given.get("config", ""),
        "offers": ways,
        "action": request.url.path if request.url.path in ("/explain", "/quiz") else "/model",
        "back": request.url.path[1:] if request.url.path in ("/quiz", "/compare", "/design", "/models") else "",
    }
    return render_page(request, "failed", Query(lang=language(request)), view, status)


def warm_up() -> None:
    """Load what renders errors, so that the first error is not slow."""
    templates().get_template("failed.html")


async def not_found(request: Request, error: Exception) -> Response:
    """Answer an address that leads nowhere."""
    from weighbridge.web.middleware import problem

    if request.url.path.startswith("/api/"):
        return problem(404, "Not found", "there is no such call; see /api/v1/openapi.json")
    return failure_page(request, 404, translator(language(request))(STRINGS["missing"]))
