"""The pages: each is a view of what the library answers, and its address is the whole question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode

from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import error_text, translator
from weighbridge.documents.document import Document, Heading
from weighbridge.web import views
from weighbridge.web.controls import controls, groups_of, letter_like_formula
from weighbridge.web.middleware import status_of
from weighbridge.web.query import DEFAULT, MOST_COMPARED, Query, positive_int, read_query
from weighbridge.web.rendering import language, preferred_language, render_page
from weighbridge.web.strings import STRINGS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from weighbridge.api.model import Model

Form: TypeAlias = Mapping[str, Any]


def home(request: Request, form: Form) -> Response:
    """Show the model page for the default model, first of all in the language that the browser asks for."""
    from starlette.responses import RedirectResponse

    preferred = preferred_language(request.headers.get("accept-language", ""))
    if "lang" not in request.query_params and preferred != "en":
        return RedirectResponse(f"/?{urlencode({**request.query_params, 'lang': preferred})}", headers={"vary": "accept-language"})
    return model_page(request, form)


def model_page(request: Request, form: Form) -> Response:
    """Show one model: controls, totals, table, charts, formula, counts, FLOPs."""
    query = read_query(request.query_params)
    return page_of_model(request, query._replace(source=DEFAULT) if query.dropped else query, query.model())


def page_of_model(request: Request, query: Query, found: Model) -> Response:
    """Show a model that has been weighed."""
    query = query if found.kind == "config" else query._replace(dropped=found.source)
    return render_page(
        request, "model", query, {**_module_page(found, query), **_class_choices(found, query), **_formula_page(found, query)}
    )


def _class_choices(found: Model, query: Query) -> dict[str, Any]:
    """Return what the class may be, and which one the config itself names."""
    own = found.class_name
    if query.class_name and found.description is not None:
        own = query._replace(class_name="").model().class_name
    return {"classes": _classes(found), "own_class": own}


def where_part(request: Request, form: Form) -> Response:
    """Return the fragment that a changed size updates first: the total, the table and the charts."""
    query = read_query(request.query_params)
    return render_page(request, "part_where", query, _module_page(query.model(), query))


def why_part(request: Request, form: Form) -> Response:
    """Return the fragment below: formula, counts, FLOPs."""
    query = read_query(request.query_params)
    return render_page(request, "part_why", query, _formula_page(query.model(), query))


def _module_page(found: Model, query: Query) -> dict[str, Any]:
    from weighbridge.documents.headline import headline

    say = translator(query.lang)
    facts = {
        "tally": found.count(),
        "headline": headline(found, say),
        "inner_sizes": views.sizes_of_parts(found, say),
        "defaulted": found.defaulted,
        "unknown": found.unknown,
    }
    return {**facts, **views.module_view(found, query)}


def _formula_page(found: Model, query: Query) -> dict[str, Any]:
    why = views.formula_view(found, query)
    # Those of the formula tell the layers of encoder and decoder apart.
    letters = {key: letter for letter, key, *_ in why.get("symbols", ())}
    listed = letter_like_formula(controls(found, translator(query.lang)), letters)
    return {"groups": groups_of(listed), **why, **views.arithmetic(found, query), **views.reconciliation(found, query)}


def costs_part(request: Request, form: Form) -> Response:
    """Return the fragment on costs: memory, cache, whether it fits."""
    query = read_query(request.query_params)
    return render_page(request, "part_costs", query, views.costs(query.model(), query))


def names_part(request: Request, form: Form) -> Response:
    """Return the names that may be meant, likeliest first, each with its count."""
    from starlette.responses import JSONResponse

    from weighbridge.web.names import count_of, find_names

    say = translator(language(request))
    kinds = {True: STRINGS["a_preset"], False: STRINGS["a_type"]}
    found = [
        {
            "value": name.value,
            "note": name.hub or say(kinds[bool(name.preset)]),
            "count": count_of(name.value),
        }
        for name in find_names(request.query_params.get("q", "")[:200])
    ]
    return JSONResponse(found)


def compare_page(request: Request, form: Form) -> Response:
    """Show two to six models side by side."""
    from weighbridge.accounts.compare import compare
    from weighbridge.documents.compare import GROUPS, distinct_measures, tables_of_causes
    from weighbridge.documents.document import Document
    from weighbridge.documents.renderers import html
    from weighbridge.verification.attribution import with_causes

    query = read_query(request.query_params)
    names = [name for name in request.query_params.getlist("with") if name][:MOST_COMPARED] or [DEFAULT, "bert-large-uncased"]
    query = query._replace(compared=tuple(names))
    say = translator(query.lang)
    view: dict[str, Any] = {
        "names": [*names, *[""] * min(MOST_COMPARED - len(names), 2)],
        "tokens": query.seq or "",
        "devices": views.device_groups(say),
        "problem": "",
    }
    try:
        models = [query._replace(source=name, config="", class_name="", overrides=()).model() for name in names]
        found = with_causes(compare(models, query.batch, query.seq or None))
    except WeighbridgeError as error:
        return render_page(request, "compare", query, {**view, "problem": error_text(error, query.lang)}, status_of(error))
    links = [query.link("/model", source=name, class_name="", overrides=()) for name in names]
    costs = STRINGS["costs_in_bytes"]
    groups = [(say(title), [m for m in distinct_measures(found) if m.group == group]) for group, title in GROUPS.items()]
    view |= {
        "tokens": found.seq,
        "bars": views.bars(found, say),
        "links": links,
        "legend": views.legend_of(models, say),
        "groups": [*groups, (say(costs), views.cost_rows(models, query))],
        "fits": views.fit_rows(models, query),
        "untold": [error_text(why, query.lang) for why in found.untold],
        "causes": html.body(Document("", blocks=tuple(tables_of_causes(found, names, say)))),
    }
    return render_page(request, "compare", query, view)


def explain_page(request: Request, form: Form) -> Response:
    """Show the derivation, ready to print, with its LaTeX and Markdown to copy."""
    from weighbridge.documents import explain
    from weighbridge.documents.renderers import html, render

    query = read_query(request.query_params)
    found = query.model()
    document = explain.document(found.explain(query.lang, query.module))
    forms = {"LaTeX": render(document, "latex"), "Markdown": render(document, "markdown")}
    outline = [block.text for block in document.blocks if isinstance(block, Heading) and block.level == 1]
    view = {
        "document": document,
        "body": views.with_anchors(html.body(document)),
        "forms": forms,
        "outline": outline,
        **_class_choices(found, query),
    }
    return render_page(request, "explain", query, view)


def audit_page(request: Request, form: Form) -> Response:
    """Show an article marked up line by line; the text is posted, never part of an address."""
    query = read_query({**request.query_params, **({"lang": str(form["lang"])} if form.get("lang") else {})})
    text = str(form.get("text") or "")
    about = str(form.get("source") or "").strip()[:200]
    view: dict[str, Any] = {"text": text, "audited": None, "about": about, "problem": ""}
    try:
        model = query._replace(source=about).model() if about else None
    except WeighbridgeError as error:
        return render_page(request, "audit", query, {**view, "problem": error_text(error, query.lang)}, status_of(error))
    if text.strip():
        from weighbridge.auditing import audit
        from weighbridge.documents import audit as auditing

        say = translator(query.lang)
        found = audit(text, model=model)
        tallied = [
            (verdict, say(auditing.LABELS[verdict]), number)
            for verdict, number in found.summary.items()
            if verdict in auditing.LABELS and number
        ]
        view["audited"] = {
            "lines": views.marked_lines(found, say),
            "closing": auditing.summary(found, say).splitlines(),
            "tallied": tallied,
        }
    return render_page(request, "audit", query, view)


def design_page(request: Request, form: Form) -> Response:
    """Show which configs have a number of parameters: solved, within a budget, or over ranges."""
    from weighbridge.documents.renderers import html
    from weighbridge.web.api import CALLS, read_asked

    given = dict(request.query_params)
    query = read_query({key: value for key, value in given.items() if not key.startswith("set.")})
    name = given.get("tool") if given.get("tool") in TOOLS else None
    view: dict[str, Any] = {"tool": name, "given": given, "document": None, "body": "", "problem": ""}
    if name is None:
        return render_page(request, "design", query, view)
    asked = {**given, f"set.{given['key']}": given.get("range", "")} if name == "sweep" and given.get("key") else given
    call = next(call for call in CALLS if call.name == name)
    try:
        document = call.module.answer(read_asked(call, asked)).document()
    except WeighbridgeError as error:
        return render_page(request, "design", query, {**view, "problem": error_text(error, query.lang)}, status_of(error))
    return render_page(request, "design", query, {**view, "document": document, "body": html.body(document)})


TOOLS = ("solve", "design", "sweep")
"""What the page of designs can be asked."""


def api_page(request: Request, form: Form) -> Response:
    """Show the calls of the API with examples."""
    from weighbridge.web.api import CALLS, options

    calls = [(call, any(option.needed for option in options(call))) for call in CALLS]
    return render_page(request, "api", read_query(request.query_params), {"calls": calls, "base": str(request.base_url)})


def models_page(request: Request, form: Form) -> Response:
    """Show what can be weighed by name: presets by family, then model types; those alone that hold a word."""
    query = read_query(request.query_params)
    word = request.query_params.get("filter", "")[:80].strip()
    return render_page(request, "models", query, {"word": word, **views.presets_with(word, query)})


def quiz_page(request: Request, form: Form) -> Response:
    """Show an exercise; an answer in the address is marked. Nothing is kept but in the browser."""
    from weighbridge.documents.quiz import VERDICTS, marking_blocks, solution_blocks
    from weighbridge.documents.renderers import html
    from weighbridge.exercises.marking import mark_answer
    from weighbridge.exercises.questions import LEVEL_WORDS, choose_preset, exercise_about

    given = request.query_params
    query = read_query(given)
    level, seed, answer = given.get("level") or "layer", positive_int(given, "seed", 1), given.get("answer", "").strip()
    named = given.get("source", "").strip()
    exercise = exercise_about(query._replace(source=named or choose_preset(level, seed)).model(), level, seed, query.lang)
    say = translator(query.lang)
    marking = mark_answer(exercise, answer) if answer else None
    view = {
        "levels": [(name, say(words)) for name, words in LEVEL_WORDS.items()],
        "level": level,
        "seed": seed,
        "named": named,
        "answer": answer,
        "exercise": exercise,
        "marking": marking,
        "verdict": say(VERDICTS[marking.verdict]) if marking else "",
        "marked": html.body(Document("", "", tuple(marking_blocks(marking, say)), query.lang)) if marking else "",
        "solution": html.body(Document("", "", tuple(solution_blocks(exercise, say)), query.lang)),
    }
    return render_page(request, "quiz", query, view)


PAGES = {
    "model": model_page,
    "models": models_page,
    "compare": compare_page,
    "explain": explain_page,
    "audit": audit_page,
    "design": design_page,
    "quiz": quiz_page,
    "api": api_page,
}
"""From the first piece of an address to its page."""

PARTS = {"where": where_part, "why": why_part, "costs": costs_part, "names": names_part}
"""The parts of the Model page that a change of a size renews."""


def _classes(found: Model) -> list[str]:
    return list(found.description.family.classes) if found.description else []
