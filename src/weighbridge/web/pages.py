"""The pages: each is a view of what the library answers, and its address is the whole question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge import sources
from weighbridge.accounts.ledger import Entry, entries, ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.blueprints import MODULES
from weighbridge.config import Inner, Sizes, within
from weighbridge.errors import UsageError
from weighbridge.messages import Say, mark, translator
from weighbridge.model import Model
from weighbridge.tables.rows import all_tensors, tree_table
from weighbridge.web.query import DEFAULT, Query, query
from weighbridge.web.words import WORDS

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response

TEMPLATES = Path(__file__).parent / "templates"
TABS = ("model", "compare", "explain", "audit", "api")


class Control(NamedTuple):
    """One field that a visitor can change: a size with its slider, a switch, or anything else as text."""

    key: str
    label: str
    letter: str
    kind: str
    value: Any
    most: int
    defaulted: bool


async def home(request: Request) -> Response:
    """Show the model page for the default model."""
    return await model_page(request)


async def model_page(request: Request) -> Response:
    """Show one model: controls, totals, table, pictures, formula, counts, arithmetic."""
    asked = query(request.query_params)
    found = asked.model()
    say = translator(asked.language)
    view = {"tally": found.count(), "headline": _headline(found), "controls": _controls(found, say), "presets": _names(),
            "classes": list(found.description.family.classes) if found.description else [], "picked": asked.class_name,
            **_where(found, asked), **_why(found, asked), **_arithmetic(found, asked)}  # fmt: skip
    return _page(request, "model", asked, {"found": found, **view})


async def compare_page(request: Request) -> Response:
    """Show two to six models side by side."""
    asked = query(request.query_params)
    names = [name for name in request.query_params.getlist("with") if name][:6] or [DEFAULT, "bert-large-uncased"]
    columns = [(name, asked._replace(source=name, config="", class_name="", overrides=()).model()) for name in names]
    first = columns[0][1].count().unique
    most = max(_int(found.count().unique) for _, found in columns)
    models = [{"name": name, "class": found.class_name, "tally": found.count(), "link": asked.link("/model", source=name, class_name="", overrides=()),
               "difference": _int(found.count().unique) - _int(first), "width": _int(found.count().unique) * 100 // most}
              for name, found in columns]  # fmt: skip
    return _page(request, "compare", asked, {"models": models, "names": [*names, *[""] * (6 - len(names))], "presets": _names()})


async def explain_page(request: Request) -> Response:
    """Show the derivation, ready to print, with its LaTeX and Markdown to copy."""
    asked = query(request.query_params)
    from weighbridge.renderers.papers import html, render
    from weighbridge.tables import derivation

    paper = derivation.paper(asked.model().explain(asked.language, asked.module))
    forms = {"LaTeX": render(paper, "latex"), "Markdown": render(paper, "markdown")}
    return _page(request, "explain", asked, {"paper": paper, "body": html.body(paper), "forms": forms, "presets": _names()})


async def audit_page(request: Request) -> Response:
    """Show an article marked up line by line; the text is posted, never part of an address."""
    form: Mapping[str, Any] = {}
    if request.method == "POST":
        form = await request.form(max_files=1, max_fields=20)
    asked = query({**request.query_params, **({"lang": str(form["lang"])} if form.get("lang") else {})})
    text = str(form.get("text") or "")
    view: dict[str, Any] = {"text": text, "audited": None}
    if text.strip():
        from weighbridge.proofs.audit import audit
        from weighbridge.tables import auditing

        say = translator(asked.language)
        found = audit(text)
        marked: dict[int, list[tuple[str, str, str]]] = {}
        for claim in found.claims:
            marked.setdefault(claim.line, []).append((claim.verdict, claim.text, auditing.remark(claim, say)))
        lines = [{"number": line.number, "text": line.raw, "claims": marked.get(line.number, [])} for line in found.lines]
        view["audited"] = {"lines": lines, "closing": auditing.closing(found, say)}
    return _page(request, "audit", asked, view)


async def api_page(request: Request) -> Response:
    """Show the calls of the API with examples."""
    from weighbridge.web.api import CALLS

    return _page(request, "api", query(request.query_params), {"calls": CALLS})


PAGES = {"model": model_page, "compare": compare_page, "explain": explain_page, "audit": audit_page, "api": api_page}
"""From the first piece of an address to its page."""


def failed(request: Request, status: int, detail: str) -> Response:
    """Show what was wrong with a question, in place of its answer, with the form still there."""
    language = request.query_params.get("lang", "en")
    asked = Query(language=language if language in ("en", "zh") else "en")
    return _page(request, "failed", asked, {"detail": detail, "presets": _names()}, status)


async def missing(request: Request, error: Exception) -> Response:
    """Answer an address that leads nowhere."""
    from weighbridge.web.guard import problem

    if request.url.path.startswith("/api/"):
        return problem(404, "Not found", "there is no such call; see /api/v1/openapi.json")
    return failed(request, 404, translator("en")(WORDS["missing"]))


def _page(request: Request, name: str, asked: Query, view: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import HTMLResponse

    say = translator(asked.language)
    common = {
        "asked": asked, "page": name, "tabs": TABS, "w": {key: say(sentence) for key, sentence in WORDS.items()},
        "other": "en" if asked.language == "zh" else "zh", "path": f"/{name}" if name in PAGES else "/model",
    }  # fmt: skip
    html = _environment().get_template(f"{name}.html").render(**common, **view)
    return HTMLResponse(html, status)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["n"] = lambda number: f"{number:,}"
    return environment


@cache
def _names() -> list[str]:
    return [*(preset.name for preset in sources.presets()), *MODULES]


def _headline(found: Model) -> str:
    from weighbridge.tables.counting import headline

    return headline(found)


def _where(found: Model, asked: Query) -> dict[str, Any]:
    """Return the table and the pictures of the module in view."""
    from weighbridge.renderers.treemap import sunburst, tiles, treemap

    book = ledger(found.tree, PARAMETERS)
    path, entry = _entry(book, asked.module)
    crumbs = [("", asked.link("/model", module=""))]
    pieces = path.split(".") if path else []
    crumbs += [(piece, asked.link("/model", module=".".join(pieces[: index + 1]))) for index, piece in enumerate(pieces)]
    tile = tiles(entry, path)
    link = asked.link("/model", module="MODULE").replace("MODULE", "{}")
    return {
        "rows": tree_table(entry, all_tensors).rows,
        "crumbs": crumbs,
        "treemap": treemap(tile, link=link),
        "sunburst": sunburst(tile, link=link),
    }


def _entry(book: Entry, path: str) -> tuple[str, Entry]:
    if not path:
        return "", book
    found = next(((name, entry) for name, entry in entries(book) if name == path), None)
    if found is None:
        raise UsageError(f"module: the model has no {path[:80]!r}")
    return found


def _why(found: Model, asked: Query) -> dict[str, Any]:
    from weighbridge.proofs.counts import counts

    if found.description is None:
        return {"formula": None, "all_counts": ()}
    formula = found.formula()
    say = translator(asked.language)
    symbols = [(s.letter, s.key, say(s.meaning), formula.values[s.letter]) for s in formula.symbols]
    return {"formula": formula, "symbols": symbols, "all_counts": counts(found, asked.language)}


def _arithmetic(found: Model, asked: Query) -> dict[str, Any]:
    try:
        return {"flops": found.flops(asked.batch, asked.seq), "untold": ""}
    except UsageError as error:  # a few architectures do not tell their arithmetic; the rest of the page stands
        return {"flops": None, "untold": str(error)}


def _controls(found: Model, say: Say) -> list[Control]:
    if found.description is None:
        return []
    missing = set(found.defaulted)
    known, raw, sizes = found.description
    return list(_fields(Inner(raw, known.fields), sizes, missing, say, ""))


def _fields(config: Inner, sizes: Sizes, missing: set[str], say: Say, path: str) -> list[Control]:
    controls: list[Control] = []
    for field in config.fields:
        value = getattr(sizes, field.word)
        key = path + field.key
        if field.kind == "nested":
            inner = within(field, config.raw, path)
            controls += _fields(inner, value, missing, say, f"{key}.") if inner else []
        elif field.key and field.kind in ("size", "labels") and isinstance(value, int):
            controls.append(Control(key, say(field.meaning), field.letter, "size", value, max(4 * value, 16), key in missing))
        elif field.key and field.kind == "switch":
            controls.append(Control(key, field.key, "", "switch", value, 0, key in missing))
    return controls


def _int(value: Any) -> int:
    assert isinstance(value, int)
    return value


__all__ = ["PAGES", "failed", "home", "mark", "missing"]
