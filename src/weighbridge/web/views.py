"""What the pages show of a model, made ready for the templates."""

from __future__ import annotations

from typing import Any

from weighbridge.accounts.compare import Comparison
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.ledger import Entry, ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.accounts.possible import length_names as lengths
from weighbridge.api import Model
from weighbridge.auditing.claims import Audit, Claim
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Say, Text, error_text, translator
from weighbridge.core.tree import walk
from weighbridge.documents.document import Row
from weighbridge.documents.renderers.treemap import join_path, sunburst, tiles, treemap, unique_names
from weighbridge.documents.tree_rows import all_tensors, tree_table
from weighbridge.web.query import Query

MOST_ROWS = 120
"""Beyond so many rows, the table leaves the deepest levels to a zoom into the module."""


def where(found: Model, asked: Query) -> dict[str, Any]:
    """Return the table and the pictures of the module in view."""
    trail = _trail(ledger(found.tree, PARAMETERS), asked.module)
    path, entry = trail[-1]
    crumbs = [(name.rpartition(".")[2], asked.link("/model", module=name)) for name, _ in trail]
    tile = tiles(entry, path)
    # A dropped file is not in the address, so no link leads into it.
    link = asked.link("/model", module="MODULE").replace("MODULE", "{}") if found.kind == "config" else ""
    rows = tree_table(entry, all_tensors).rows
    kept = _shallow(rows)
    return {
        "rows": kept,
        "left_out": len(rows) - len(kept),
        "crumbs": crumbs,
        "amount": f"{entry.times} × {entry.each:,} = {entry.amount:,}" if entry.times != 1 else f"{entry.amount:,}",
        "pictures": [
            treemap(tile, width=680, height=330, link=link, kind="wide"),
            treemap(tile, width=360, height=300, link=link, kind="narrow"),
            sunburst(tile, size=400, link=link),
        ],
    }


def _shallow(rows: tuple[Row, ...]) -> tuple[Row, ...]:
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


def why(found: Model, asked: Query) -> dict[str, Any]:
    """Return the closed formula with its symbols, and all legitimate counts, group by group."""
    from weighbridge.conventions.counts import counts
    from weighbridge.documents.counts import GROUPS

    if found.description is None:
        return {"formula": None, "count_groups": ()}
    formula, say = found.formula(), translator(asked.lang)
    symbols = [(s.letter, s.key, say(s.meaning), formula.values[s.letter]) for s in formula.symbols]
    listed = counts(found, asked.lang)
    groups = [(say(title), [row for row in listed if row.group == group]) for group, title in GROUPS.items()]
    return {"formula": formula, "symbols": symbols, "count_groups": [pair for pair in groups if pair[1]]}


def arithmetic(found: Model, asked: Query) -> dict[str, Any]:
    """Return the FLOPs of one pass, or why they cannot be told, and what can be put in; the rest of the page stands either way."""
    optional = {part.requires for _, part in walk(found.tree)}
    takes: dict[str, int | str] = {"batch": asked.batch, "seq": asked.seq}
    takes |= {name: getattr(asked, name) for name in ("images", "audios") if name in optional}
    takes |= {"question": asked.question} if any("question" in lengths(part) for _, part in walk(found.tree)) else {}
    takes |= {"patches": asked.patches} if any("rows" in lengths(part) for _, part in walk(found.tree)) else {}
    try:
        return {"takes": takes, "flops": flops_of(found, asked.given()), "untold": ""}
    except UsageError as error:
        return {"takes": takes, "flops": None, "untold": error_text(error, asked.lang)}


def bars(found: Comparison, say: Say) -> list[dict[str, Any]]:
    """Return a bar for each model: its embeddings and all else, as percentages of the largest model."""
    from weighbridge.documents.compare import titles

    measures = {measure.key: [value or 0 for value in measure.values] for measure in found.measures}
    most = max(measures["unique"]) or 1
    return [
        {"name": name, "class": model.class_name, "unique": unique, "embedding": 100 * embedding / most, "rest": 100 * rest / most}
        for name, model, unique, embedding, rest in zip(
            titles(found.models), found.models, measures["unique"], measures["embedding"], measures["non_embedding"], strict=True
        )
    ]


def marked(audit: Audit, say: Say) -> list[dict[str, Any]]:
    """Return the lines of an article: pieces of text, each with the verdict on it and the reason, and the remarks beside it."""
    from weighbridge.documents.audit import remark

    by_line: dict[int, list[Claim]] = {}
    for claim in audit.claims:
        by_line.setdefault(claim.line, []).append(claim)
    lines = []
    for line in audit.lines:
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
