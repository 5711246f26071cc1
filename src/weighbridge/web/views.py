"""What the pages show of a model, prepared for the templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weighbridge.accounts.accepted_inputs import length_names as lengths
from weighbridge.accounts.compare import Comparison, Measure
from weighbridge.accounts.fits.accelerators import ACCELERATORS, GIB, accelerator
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry, ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.accounts.parameters import unique_of as model_count
from weighbridge.api.model import Model
from weighbridge.auditing.claims import Audit, Claim
from weighbridge.blueprints import MODULES
from weighbridge.config.fields import Config
from weighbridge.core.errors import UsageError, WeighbridgeError
from weighbridge.core.messages import Say, Text, error_text, mark, translator
from weighbridge.core.notation import UNICODE, write
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, walk
from weighbridge.documents.document import Document, Row, Share, shares
from weighbridge.documents.fits import document as fits_document
from weighbridge.documents.given import describe_inputs
from weighbridge.documents.headline import main_sizes
from weighbridge.documents.human import size as human_bytes
from weighbridge.documents.memory import no_activations
from weighbridge.documents.reconcile import document as reconcile_document
from weighbridge.documents.renderers import html
from weighbridge.documents.renderers.folding import role_bar
from weighbridge.documents.renderers.treemap import Tile, join_path, sunburst, tiles, treemap, unique_names
from weighbridge.documents.roles import ROLES, amounts
from weighbridge.documents.tree_rows import Spot, all_tensors, tree_table
from weighbridge.explain.formulas import Formula, ModuleFormula
from weighbridge.presets import Preset, presets
from weighbridge.web.names import count_of
from weighbridge.web.query import Query
from weighbridge.web.strings import STRINGS

MOST_ROWS = 120
"""Beyond so many rows, the table leaves the deepest levels to a zoom into the module."""


def module_view(found: Model, query: Query) -> dict[str, Any]:
    """Return the table, the pictures and the roles of the module in view."""
    say = translator(query.lang)
    trail = _trail(ledger(found.tree, PARAMETERS), query.module)
    path, entry = trail[-1]
    around = tuple(outer.part for _, outer in trail[:-1])
    within = 1
    for _, outer in trail[:-1]:
        within *= as_int(outer.times)
    crumbs = [(name.rpartition(".")[2], query.link("/model", module=name)) for name, _ in trail]
    tile = _with_tensors(tiles(entry, path, within=within, around=around), entry, path)
    # A dropped file is not in the address, so no link leads into it.
    link = query.link("/model", module="MODULE").replace("MODULE", "{}") if found.kind == "config" else ""
    rows = tree_table(entry, all_tensors, say=say, spot=Spot(path=path, around=around)).rows
    kept = _top_levels(rows)
    copies = within * as_int(entry.times)
    roles = _roles(entry, around)
    coloured = next((amount for role, amount, _ in roles if role == "embedding"), 0)
    return {
        "by_config": found.description is not None,
        "rows": [(row, role_bar(row)) for row in kept],
        "left_out": len(rows) - len(kept),
        "crumbs": crumbs,
        "amount": f"{copies:,} × {entry.each:,} = {copies * as_int(entry.each):,}" if copies != 1 else f"{entry.amount:,}",
        "roles": [(role, say(ROLES[role][0]), amount, share) for role, amount, share in roles],
        "coloured": coloured if not path and coloured != found.count().embedding else None,
        "pictures": [
            treemap(tile, width=680, height=330, link=link, kind="wide"),
            treemap(tile, width=360, height=300, link=link, kind="narrow"),
            sunburst(tile, size=400, link=link).replace("<a ", '<a tabindex="-1" '),
        ],
    }


def sizes_of_parts(found: Model, say: Say) -> list[tuple[str, str]]:
    """Return the main sizes of each part of a model that has a config of its own, such as a vision tower's."""
    if found.description is None:
        return []
    sizes = vars(found.description.sizes)
    parts = [(field.key, sizes.get(field.word)) for field in found.description.family.fields if field.kind == "nested"]
    named = [(key, main_sizes(vars(inner), say)) for key, inner in parts if isinstance(inner, Config)]
    return [(key, words) for key, words in named if words]


def _with_tensors(tile: Tile, entry: Entry, path: str) -> Tile:
    """Show a module that holds no other by its tensors."""
    if tile.children:
        return tile
    inside = [
        Tile(f"{path}.{line.node.name}" if path else line.node.name, line.node.name, as_int(line.amount), tile.within, 1, tile.role, ())
        for line in entry.lines
        if line.amount
    ]
    return tile._replace(children=tuple(sorted(inside, key=lambda one: -one.amount)))


def _roles(entry: Entry, around: tuple[Part, ...]) -> list[tuple[str, int, Share]]:
    """Return what the module in view holds of each role, with its share."""
    held = amounts(entry, around)
    return list(zip(held, held.values(), shares(list(held.values()), sum(held.values())), strict=True))


def _top_levels(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows of as many levels as stay within :data:`MOST_ROWS`, two at least."""
    level = max((row.depth for row in rows), default=0)
    while level > 1 and sum(row.depth <= level for row in rows) > MOST_ROWS:
        level -= 1
    return tuple(row for row in rows if row.depth <= level)


def _trail(book: Entry, path: str) -> list[tuple[str, Entry]]:
    """Return the modules that lead to *path*, the whole first."""
    trail = [("", book)]
    while trail[-1][0] != path:
        here, entry = trail[-1]
        inside = [(join_path(here, name), child) for name, child in unique_names(entry)]
        step = next((pair for pair in inside if path == pair[0] or (path.startswith(f"{pair[0]}.") and pair[0] != here)), None)
        if step is None:
            raise UsageError(Text("module: the model has no {path!r}", path=path[:80]))
        trail.append(step)
    return trail


def formula_view(found: Model, query: Query) -> dict[str, Any]:
    """Return the closed formula with its symbols, and all legitimate counts, group by group."""
    from weighbridge.conventions.counts import counts
    from weighbridge.documents.counts import GROUPS

    if found.description is None:
        return {"formula": None, "count_groups": ()}
    formula, say = found.formula(), translator(query.lang)
    symbols = [(s.letter, s.key, say(s.meaning), formula.values[s.letter]) for s in formula.symbols]
    listed = counts(found, query.lang)
    groups = [(say(title), [row for row in listed if row.group == group]) for group, title in GROUPS.items()]
    by_place = [(place, write(module.closed.expression(), UNICODE)) for place, module in _places(found, formula) if place]
    return {
        "formula": formula,
        "terms": html.math_pieces(formula.closed.expression()),
        "formulas": by_place,
        "parts": _parts(found, formula),
        "symbols": symbols,
        "count_groups": [pair for pair in groups if pair[1]],
    }


def _places(found: Model, formula: Formula) -> Iterator[tuple[str, ModuleFormula]]:
    """Yield the formula of each module with its place in the pictures, where runs of unlike layers have names of their own."""
    book = ledger(found.tree, PARAMETERS)
    order = [place for place, entry in _walk(book, "") if place or entry is not book]
    if len(order) == len(formula.modules):
        yield from zip(order, formula.modules, strict=True)
    else:
        yield from ((module.path, module) for module in formula.modules)


def _parts(found: Model, formula: Formula) -> list[tuple[str, str, list[str]]]:
    """Return the parts that a model first divides into, how often each is there, and the formula of one: a part that holds nearly all of it is a shell around others."""
    by_place = dict(_places(found, formula))
    listed: list[tuple[str, Entry]] = [("", ledger(found.tree, PARAMETERS))]
    while len(
        shells := [pair for pair in listed if pair[1].children and pair[1].times == 1 and as_int(pair[1].amount) > SHELL * formula.value]
    ):
        at = listed.index(shells[0])
        place, entry = listed[at]
        listed[at : at + 1] = [(join_path(place, name), child) for name, child in unique_names(entry)]
    return [
        (place, f" × {entry.times}" if entry.times != 1 else "", html.math_pieces(by_place[place].closed.expression()))
        for place, entry in listed
        if entry.amount and place in by_place
    ]


SHELL = 0.9
"""A part with more of the whole than this, which holds others, is shown by those."""


def _walk(entry: Entry, place: str) -> Iterator[tuple[str, Entry]]:
    yield place, entry
    for name, child in unique_names(entry):
        yield from _walk(child, join_path(place, name))


def arithmetic(found: Model, query: Query) -> dict[str, Any]:
    """Return the FLOPs of one pass, or why they cannot be told, and what can be put in; the rest of the page stands either way."""
    optional = {part.requires for _, part in walk(found.tree)}
    takes: dict[str, int | str] = {"batch": query.batch, "seq": query.tokens(found)}
    takes |= {name: getattr(query, name) for name in ("images", "audios") if name in optional}
    takes |= {"question": query.question} if any("question" in lengths(part) for _, part in walk(found.tree)) else {}
    takes |= {"patches": query.patches} if any("rows" in lengths(part) for _, part in walk(found.tree)) else {}
    try:
        return {"takes": takes, "flops": flops_of(found, query.inputs(found)), "untold": ""}
    except UsageError as error:
        return {"takes": takes if found.description else {}, "flops": None, "untold": error_text(error, query.lang)}


def reconciliation(found: Model, query: Query) -> dict[str, Any]:
    """Return which way of counting gives the number that was asked for, or why there is none."""
    if not query.number.strip():
        return {"answer": None, "answer_refused": ""}
    try:
        simplest = found.reconcile(query.number, query.lang)
        further = found.reconcile(query.number, query.lang, every=True).matches if simplest.hidden else ()
    except UsageError as error:
        return {"answer": None, "answer_refused": error_text(error, query.lang)}
    answer = reconcile_document(simplest._replace(hidden=0), query.lang)
    rest = tuple(match for match in further if match not in simplest.matches)
    more = html.body(reconcile_document(simplest._replace(matches=rest, hidden=0, hints=()), query.lang)) if rest else ""
    return {"answer": (answer.title, answer.figure, html.body(answer), len(rest), more), "answer_refused": ""}


def costs(found: Model, query: Query) -> dict[str, Any]:
    """Return what a model costs at work: memory of serving and training, cache, whether it fits a device."""
    say = translator(query.lang)
    lines = [(say(title), _human_amount(amount), note) for title, amount, note in _cost_lines(found, query)]
    answer, why = "", ""
    if query.device:
        try:
            answer = html.body(_fit(found, query))
        except WeighbridgeError as error:
            why = error_text(error, query.lang)
    given = describe_inputs(found, Inputs(batch=query.batch, seq=query.tokens(found)), say) if found.description is not None else ""
    return {"costs": lines, "given": given, "devices": device_groups(say), "fit": answer, "fit_refused": why}


MEMORIES = (8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 141, 192)
"""GiB that may be chosen where somebody knows the memory and no device."""


def device_groups(say: Say) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what a model may be asked to fit: memory alone, then devices with theirs; each as it is asked for and as it is shown."""
    sizes = [(f"{gib}GiB", f"{gib} GiB") for gib in MEMORIES]
    devices = [(name, f"{name} · {device.memory // GIB} GiB") for name, device in ACCELERATORS.items()]
    return [(say(STRINGS["memory"]), sizes), (say(STRINGS["devices"]), devices)]


def _fit(found: Model, query: Query) -> Document:
    """Tell whether a model fits the device or the memory that was chosen."""
    memory = re.fullmatch(r"(\d{1,4}) ?GiB", query.device, re.IGNORECASE)
    asked: dict[str, Any] = {"gib": int(memory[1])} if memory else {"device": query.device}
    fit = found.fits(**asked, batch=query.batch, seq=query.tokens(found))
    return fits_document(found, fit, None if memory else accelerator(query.device), query.lang)


COSTS = {
    "weights": mark("weights in bfloat16"),
    "cache": mark("cache at these tokens, bfloat16"),
    "training": mark("training with AdamW in float32, activations included"),
}


def _cost_lines(found: Model, query: Query) -> Iterator[tuple[str, int | None, str]]:
    """Yield title, bytes and, where they cannot be told, why."""

    seq = query.tokens(found)

    def training() -> tuple[int | None, str]:
        memory = found.memory(training=True, batch=query.batch, seq=seq)
        return memory.total, no_activations(memory.refused, translator(query.lang)) if memory.refused else ""

    asks: dict[str, Callable[[], tuple[int | None, str]]] = {
        "weights": lambda: (found.memory(dtype="bfloat16", batch=query.batch, seq=seq).weights, ""),
        "cache": lambda: (found.cache(batch=query.batch, seq=seq).bytes, ""),
        "training": training,
    }
    for key, ask in asks.items():
        try:
            amount, why = ask()
        except WeighbridgeError as error:
            amount, why = None, error_text(error, query.lang)
        yield COSTS[key], amount, why if amount is None else ""


def _human_amount(amount: int | None) -> str:
    return "–" if amount is None else f"{human_bytes(amount)} ({amount:,})"


def cost_rows(models: Sequence[Model], query: Query) -> list[Measure]:
    """Return the costs of models side by side, in bytes."""
    columns = [[(title, amount) for title, amount, _ in _cost_lines(model, query)] for model in models]
    return [Measure(title, "costs", title, tuple(column[row][1] for column in columns)) for row, (title, _) in enumerate(columns[0])]


def fit_rows(models: Sequence[Model], query: Query) -> list[str]:
    """Return for each model whether it fits the device that was chosen, and by what measure; nothing where none was."""
    if not query.device:
        return []
    answers = []
    for model in models:
        try:
            answers.append(_fit(model, query).figure)
        except WeighbridgeError as error:
            answers.append(error_text(error, query.lang))
    return answers


def bars(found: Comparison, say: Say) -> list[dict[str, Any]]:
    """Return a bar for each model: its roles as percentages of itself, and its size as one of the largest."""
    from weighbridge.documents.compare import titles

    unique = [model_count(model) for model in found.models]
    most = max(unique) or 1
    listed = []
    for name, model, amount in zip(titles(found.models), found.models, unique, strict=True):
        held = amounts(ledger(model.tree, PARAMETERS))
        at, pieces = 0.0, []
        for role, part in held.items():
            width = 100 * part / (amount or 1)
            pieces.append((role, at, width, f"{say(ROLES[role][0])}: {part:,}"))
            at += width
        listed.append(
            {
                "name": name,
                "class": model.class_name,
                "unique": amount,
                "pieces": pieces,
                "size": max(100 * amount / most, LEAST_BAR),
                "ratio": _ratio(amount, most),
            }
        )
    return listed


LEAST_BAR = 0.6
"""Percent of the largest: a shorter bar nobody sees; the ratio beside it is exact."""


def _ratio(amount: int, most: int) -> str:
    """Say how large a model is beside the largest, in a word that can be read however small it is.

    >>> _ratio(1, 1), _ratio(1, 2), _ratio(110, 671_000)
    ('1', '1 / 2.0', '1 / 6,100')
    """
    times = most / (amount or 1)
    return "1" if amount == most else f"1 / {times:,.1f}" if times < 100 else f"1 / {times:,.0f}"


def legend_of(models: Sequence[Model], say: Say) -> list[tuple[str, str]]:
    """Return the roles that any of the models has."""
    held = [amounts(ledger(model.tree, PARAMETERS)) for model in models]
    return [(role, say(words)) for role, (words, *_) in ROLES.items() if any(role in one for one in held)]


def presets_with(word: str, query: Query) -> dict[str, Any]:
    """Return presets that hold a word, by family, each with its count and what its authors state; families alone where no word is given."""
    families: dict[str, list[tuple[Preset, str]]] = {}
    for preset in presets():
        kind = str(preset.config.get("model_type", ""))
        if word.lower() in f"{preset.name} {preset.hub} {kind}".lower():
            families.setdefault(kind, []).append((preset, _model_link(query, preset.name)))
    types = [(name, _model_link(query, name)) for name in MODULES if word.lower() in name]
    shown = dict(sorted(families.items())) if word else {}
    listed = {
        kind: [(preset, link, count_of(preset.name) if number < MOST_COUNTED else None) for number, (preset, link) in enumerate(found)]
        for kind, found in shown.items()
    }
    return {
        "families": listed,
        "kinds": sorted((kind, len(found)) for kind, found in families.items()),
        "types": types,
        "total": sum(map(len, families.values())),
    }


MOST_COUNTED = 120
"""Presets of one family that are counted for a page; more have their authors' figure alone."""


def _model_link(query: Query, name: str) -> str:
    return query.link("/model", source=name, config="", class_name="", overrides=(), module="", number="", device="")


def with_anchors(body: str) -> str:
    """Give the main headings of a page names that its outline leads to."""
    number = iter(range(1, 10_000))
    return re.sub(r"<h2>", lambda _: f'<h2 id="s{next(number)}">', body)


def marked_lines(audit: Audit, say: Say) -> list[dict[str, Any]]:
    """Return the lines of an article: pieces of text, each with the verdict on it and the reason, and the remarks beside it."""
    from weighbridge.documents.audit import remark

    by_line: dict[int, list[Claim]] = {}
    for claim in audit.claims:
        by_line.setdefault(claim.line, []).append(claim)
    lines: list[dict[str, Any]] = []
    for line in audit.lines:
        if lines and lines[-1]["number"] == line.number:
            continue  # a piece of a line that is shown whole
        claims = by_line.pop(line.number, [])
        remarks = dict.fromkeys((claim.verdict, remark(claim, say)) for claim in claims if claim.verdict != "exact")
        lines.append({"number": line.number, "pieces": _pieces(line.raw, claims, say), "remarks": list(remarks)})
    return lines


def _pieces(raw: str, claims: list[Claim], say: Say) -> list[tuple[str, str, str]]:
    from weighbridge.documents.audit import remark

    pieces, at = [], 0
    for claim in sorted((claim for claim in claims if claim.end <= len(raw)), key=lambda claim: claim.end):
        start = max(claim.start, at)
        if claim.end > start:
            pieces += [(raw[at:start], "", ""), (raw[start : claim.end], claim.verdict, remark(claim, say))]
            at = claim.end
    return [piece for piece in (*pieces, (raw[at:], "", "")) if piece[0]]
