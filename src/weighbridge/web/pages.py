"""The pages: each is a view of what the library answers, and its address is the whole question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from weighbridge.blueprints import MODULES
from weighbridge.core.messages import error_text, languages, translator
from weighbridge.core.visible import visible
from weighbridge.presets import presets as known_presets
from weighbridge.web import views
from weighbridge.web.controls import controls, grouped
from weighbridge.web.query import DEFAULT, MOST_COMPARED, Query, query
from weighbridge.web.strings import STRINGS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from weighbridge.api import Model

Form: TypeAlias = Mapping[str, Any]
TEMPLATES = Path(__file__).parent / "templates"
TABS = ("model", "compare", "explain", "audit", "design", "api")


def home(request: Request, form: Form) -> Response:
    """Show the model page for the default model."""
    return model_page(request, form)


def model_page(request: Request, form: Form) -> Response:
    """Show one model: controls, totals, table, pictures, formula, counts, arithmetic."""
    asked = query(request.query_params)
    return shown(request, asked, asked.model())


def shown(request: Request, asked: Query, found: Model) -> Response:
    """Show a model that has been weighed."""
    view = {"groups": grouped(controls(found, translator(asked.lang))), "classes": _classes(found), **_why(found, asked)}
    return _page(request, "model", asked, {**_where(found, asked), **view})


def where_part(request: Request, form: Form) -> Response:
    """Answer what a change of a size moves first: the total, the table and the pictures; the rest of the page stays."""
    asked = query(request.query_params)
    return _page(request, "part_where", asked, _where(asked.model(), asked))


def why_part(request: Request, form: Form) -> Response:
    """Answer what is shown below: formula, counts, arithmetic."""
    asked = query(request.query_params)
    return _page(request, "part_why", asked, _why(asked.model(), asked))


def _where(found: Model, asked: Query) -> dict[str, Any]:
    from weighbridge.documents.count import headline

    facts = {
        "tally": found.count(),
        "headline": headline(found, translator(asked.lang)),
        "defaulted": found.defaulted,
        "unknown": found.unknown,
    }
    return {**facts, **views.where(found, asked)}


def _why(found: Model, asked: Query) -> dict[str, Any]:
    return {**views.why(found, asked), **views.arithmetic(found, asked)}


def compare_page(request: Request, form: Form) -> Response:
    """Show two to six models side by side."""
    from weighbridge.accounts.compare import compare
    from weighbridge.documents.compare import GROUPS

    asked = query(request.query_params)
    names = [name for name in request.query_params.getlist("with") if name][:MOST_COMPARED] or [DEFAULT, "bert-large-uncased"]
    asked = asked._replace(compared=tuple(names))
    models = [asked._replace(source=name, config="", class_name="", overrides=()).model() for name in names]
    found = compare(models, asked.batch, asked.seq)
    say = translator(asked.lang)
    links = [asked.link("/model", source=name, class_name="", overrides=()) for name in names]
    groups = [(say(title), [m for m in found.measures if m.group == group]) for group, title in GROUPS.items()]
    view = {"names": [*names, *[""] * min(MOST_COMPARED - len(names), 2)], "bars": views.bars(found, say), "links": links,
            "groups": groups, "untold": [error_text(why, asked.lang) for why in found.untold]}  # fmt: skip
    return _page(request, "compare", asked, view)


def explain_page(request: Request, form: Form) -> Response:
    """Show the derivation, ready to print, with its LaTeX and Markdown to copy."""
    from weighbridge.documents import explain
    from weighbridge.documents.renderers import html, render

    asked = query(request.query_params)
    found = asked.model()
    document = explain.document(found.explain(asked.lang, asked.module))
    forms = {"LaTeX": render(document, "latex"), "Markdown": render(document, "markdown")}
    return _page(request, "explain", asked, {"document": document, "body": html.body(document), "forms": forms, "classes": _classes(found)})


def audit_page(request: Request, form: Form) -> Response:
    """Show an article marked up line by line; the text is posted, never part of an address."""
    asked = query({**request.query_params, **({"lang": str(form["lang"])} if form.get("lang") else {})})
    text = str(form.get("text") or "")
    view: dict[str, Any] = {"text": text, "audited": None}
    if text.strip():
        from weighbridge.auditing import audit
        from weighbridge.documents import audit as auditing

        say = translator(asked.lang)
        found = audit(text)
        tallied = [
            (verdict, say(auditing.LABELS[verdict]), number)
            for verdict, number in found.summary.items()
            if verdict in auditing.LABELS and number
        ]
        view["audited"] = {"lines": views.marked(found, say), "closing": auditing.summary(found, say).splitlines(), "tallied": tallied}
    return _page(request, "audit", asked, view)


def design_page(request: Request, form: Form) -> Response:
    """Show which configs have a number of parameters: solved, within a budget, or over ranges."""
    from weighbridge.documents.renderers import html
    from weighbridge.web.api import CALLS, read_asked

    given = dict(request.query_params)
    asked = query({key: value for key, value in given.items() if not key.startswith("set.")})
    name = given.get("tool") if given.get("tool") in TOOLS else None
    document = None
    if name is not None:
        if name == "sweep" and given.get("key"):
            given[f"set.{given['key']}"] = given.get("range", "")
        call = next(call for call in CALLS if call.name == name)
        document = call.module.answer(read_asked(call, given)).document()
    body = "" if document is None else html.body(document)
    return _page(request, "design", asked, {"tool": name, "given": given, "document": document, "body": body})


TOOLS = ("solve", "design", "sweep")
"""What the page of designs can be asked."""


def api_page(request: Request, form: Form) -> Response:
    """Show the calls of the API with examples."""
    from weighbridge.web.api import CALLS, options

    calls = [(call, any(option.needed for option in options(call))) for call in CALLS]
    return _page(request, "api", query(request.query_params), {"calls": calls, "base": str(request.base_url)})


PAGES = {"model": model_page, "compare": compare_page, "explain": explain_page, "audit": audit_page, "design": design_page, "api": api_page}
"""From the first piece of an address to its page."""

PARTS = {"where": where_part, "why": why_part}
"""The parts of the Model page that a change of a size renews."""


def failed(request: Request, status: int, detail: str) -> Response:
    """Show what was wrong with a question, in place of its answer, with the form still there."""
    asked = Query(lang=language(request))
    return _page(request, "failed", asked, {"detail": detail, "given": request.query_params.get("source", DEFAULT)[:200]}, status)


async def missing(request: Request, error: Exception) -> Response:
    """Answer an address that leads nowhere."""
    from weighbridge.web.middleware import problem

    if request.url.path.startswith("/api/"):
        return problem(404, "Not found", "there is no such call; see /api/v1/openapi.json")
    return failed(request, 404, translator(language(request))(STRINGS["missing"]))


def language(request: Request) -> str:
    """Return the language an address asks for; English where it asks for none that there is."""
    asked = request.query_params.get("lang", "en")
    return asked if asked in languages() else "en"


def _page(request: Request, name: str, asked: Query, view: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import HTMLResponse

    say = translator(asked.lang)
    common = {
        "asked": asked, "page": name.replace("part_where", "model"), "tabs": TABS, "w": _words(asked.lang), "say": say,
        "other": "en" if asked.lang == "zh" else "zh", "path": f"/{name}" if name in PAGES else "/model", "known": _names(),
    }  # fmt: skip
    html = _environment().get_template(f"{name}.html").render(**common, **view)
    return HTMLResponse(html, status)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        auto_reload=False, finalize=_shown
    )  # fmt: skip
    environment.filters["n"] = lambda number: f"{number:,}".replace("-", "−")
    environment.filters["breakable"] = _breakable
    environment.filters["lettered"] = _lettered
    return environment


def _shown(value: object) -> object:
    """Write out what cannot be seen in a text, whatever page it comes to stand on; marked-up text was made of such."""
    return visible(value.replace("\r\n", "\n"), keep="\n\t") if type(value) is str else value


@lru_cache(4096)
def _breakable(name: str) -> Markup:
    """Let a long name be broken where its words meet."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])", "<wbr>", str(escape(visible(name)))))


def _lettered(letter: str) -> Markup:
    """Set what stands behind a letter's underscore as its index."""
    from markupsafe import Markup

    head, _, index = letter.partition("_")
    return Markup("{}<sub>{}</sub>").format(head, index) if index else Markup("{}").format(head)


@cache
def _words(language: str) -> dict[str, str]:
    say = translator(language)
    return {key: say(sentence) for key, sentence in STRINGS.items()}


@cache
def _names() -> tuple[tuple[str, str], ...]:
    """Return what can be named, each with its id on the Hub, if it is a preset that has one, or that it is a model type."""
    presets = tuple((preset.name, preset.hub or "") for preset in known_presets())
    return (*presets, *((name, "*") for name in MODULES))


def _classes(found: Model) -> list[str]:
    return list(found.description.family.classes) if found.description else []
