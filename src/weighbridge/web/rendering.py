"""Render views as pages: templates, translated strings, language choice, escaping."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.core.escape import escape_invisible
from weighbridge.core.messages import languages, translator
from weighbridge.documents.human import flops
from weighbridge.web.query import Query
from weighbridge.web.strings import STRINGS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response


TEMPLATES = Path(__file__).parent / "templates"
TABS = ("model", "models", "compare", "explain", "audit", "design", "quiz", "api")


SHORT = 11
"""Letters of a name that no line need be broken in."""


def language(request: Request) -> str:
    """Return the language an address asks for; English where it asks for none that there is."""
    lang = request.query_params.get("lang", "en")
    return lang if lang in languages() else "en"


def preferred_language(accepted: str) -> str:
    """Return the language that a browser would rather read, of those there are: its ``Accept-Language``, best first.

    >>> preferred_language("zh-CN,zh;q=0.9,en;q=0.8"), preferred_language("en-GB, zh;q=0.5"), preferred_language("fr, zh;q=0")
    ('zh', 'en', 'en')
    """
    best, most = "en", 0.0
    for entry in accepted[:1000].split(","):
        name, _, rest = entry.partition(";")
        found = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", rest)
        weight = float(found[1]) if found else 0.0 if rest.strip() else 1.0
        short = name.strip().partition("-")[0].lower()
        if short in languages() and weight > most:
            best, most = short, weight
    return best


def render_page(request: Request, name: str, query: Query, view: dict[str, Any], status: int = 200) -> Response:
    """Render a page: its template, with what every page is given and its own *view*."""
    from starlette.responses import HTMLResponse

    say = translator(query.lang)
    common = {
        "query": query,
        "page": "model" if name.startswith("part_") else name,
        "tabs": TABS,
        "w": _words(query.lang),
        "say": say,
        "other": "en" if query.lang == "zh" else "zh",
        "path": f"/{name}" if name in TABS else "/model",
    }
    html = templates().get_template(f"{name}.html").render(**common, **view)
    return HTMLResponse(html, status)


@cache
def templates() -> Environment:
    """Return the template environment: autoescaping on, undefined names are errors."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_escape_invisible,
    )
    environment.filters["n"] = lambda number: f"{number:,}".replace("-", "−")
    environment.filters["flops"] = flops
    environment.filters["breakable"] = _make_breakable
    environment.filters["lettered"] = _with_index
    return environment


def _escape_invisible(value: object) -> object:
    """Write out what cannot be seen in a text, whatever page it comes to stand on; marked-up text was made of such."""
    return escape_invisible(value.replace("\r\n", "\n"), keep="\n\t") if type(value) is str else value


@lru_cache(4096)
def _make_breakable(name: str) -> Markup:
    """Allow a line break inside a long name where its words meet; short ones of a list stay whole."""
    from markupsafe import Markup, escape

    pieces = str(escape(escape_invisible(name))).split(", ")
    broken = (re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])(?!\d)", "<wbr>", one) if len(one) > SHORT else one for one in pieces)
    return Markup(", ".join(broken))


def _with_index(letter: str) -> Markup:
    """Set what stands after a letter's underscore as its index."""
    from markupsafe import Markup

    head, _, index = letter.partition("_")
    return Markup("{}<sub>{}</sub>").format(head, index) if index else Markup("{}").format(head)


@cache
def _words(language: str) -> dict[str, str]:
    say = translator(language)
    return {key: say(sentence) for key, sentence in STRINGS.items()}
