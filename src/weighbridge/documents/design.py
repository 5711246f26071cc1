"""Designs within a budget: as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.core.messages import Say, mark, translator
from weighbridge.designs.budget import Budget
from weighbridge.designs.search import Search
from weighbridge.documents.document import Column, Document, Plot, Row, Table, notes
from weighbridge.documents.human import quantity

TITLES = {
    "active": mark("active"),
    "flops": mark("forward FLOPs"),
    "bytes": mark("bytes of weights"),
    "cache": mark("bytes of cache a token"),
    "memory": mark("bytes of memory"),
    "training": mark("bytes of training without activations"),
}
SIZES = ("hidden", "layers", "heads", "kv_heads", "mlp")


def as_json(found: Search) -> dict[str, Any]:
    """Return the answer of ``weigh design --json``.

    >>> from weighbridge import model
    >>> from weighbridge.designs.budget import parse_budget
    >>> from weighbridge.designs.search import design
    >>> as_json(design(model({"model_type": "bert"}), parse_budget("110M±0.5%"), limit=1))["designs"][0]["parameters"]
    109992000
    """
    return {
        "class": found.class_name,
        "part": found.part or None,
        "budget": found.budget._asdict(),
        "within": found.within,
        "tried": found.tried,
        "designs": [
            {
                "config": entry.config,
                "parameters": entry.parameters,
                **entry.measured,
                "pareto": entry.pareto,
                "advice": [
                    {"advice": one.key, "follows": one.follows, "text": one.text.format(**one.values), "source": one.source}
                    for one in entry.advice
                ],
                "tokens": [one._asdict() for one in entry.tokens],
            }
            for entry in found.designs
        ],
        "front": [row._asdict() for row in found.front],
        "refused": [{"hidden_size": hidden, "reason": reason} for hidden, reason in found.refused],
    }


def document(found: Search, words: tuple[dict[str, int], ...], lang: str = "en") -> Document:
    """Lay designs out, one a row.

    Args:
        found: The search.
        words: Of each design, its sizes by our words.
    """
    say = translator(lang)
    shown = [name for name in SIZES if any(name in sizes for sizes in words)]
    titles = {
        "hidden": say("hidden size"),
        "layers": say("layers"),
        "heads": say("heads"),
        "kv_heads": say("key-value heads"),
        "mlp": say("MLP width"),
    }
    measures = [name for name in TITLES if any(entry.measured.get(name) for entry in found.designs)]
    columns = [Column(titles[name], "integer") for name in shown]
    columns += [Column(say("parameters"), "integer"), *(Column(say(TITLES[name]), "integer") for name in measures)]
    columns += [Column(say("Pareto")), Column(say("advice not followed"))]
    rows = tuple(
        Row(
            (
                *(sizes.get(name) for name in shown),
                entry.parameters,
                *(entry.measured[name] for name in measures),
                "*" if entry.pareto else "",
                ", ".join(one.key for one in entry.advice if not one.follows),
            )
        )
        for entry, sizes in zip(found.designs, words, strict=True)
    )
    head = say("{name}: designs of {low} to {high} parameters").format(
        name=found.class_name, low=f"{found.budget.low:,}", high=f"{found.budget.high:,}"
    )
    figure = say("{n} within the budget, of {tried} counted").format(n=f"{found.within:,}", tried=f"{found.tried:,}")
    said = []
    if rows:
        star = say(
            "* on the Pareto front: {n} of the {within} designs within the budget, which no other beats in FLOPs, cache and training bytes together"
        )
        said.append(star.format(within=f"{found.within:,}", n=f"{len(found.front):,}"))
    if found.part:
        said.append(say("Only the sizes of {part} are searched (--part); everything else stays as it is.").format(part=found.part))
    if found.designs:
        broken = {one.key: one for entry in found.designs for one in entry.advice if not one.follows}
        said += [f"{key}: {say(one.text).format(**one.values)} ({one.source})" for key, one in broken.items()]
        fits = ", ".join(f"{one.tokens:,} ({one.fit}, {say(one.counts)})" for one in found.designs[0].tokens)
        said.append(say("Training tokens that published scaling laws suggest for the first design (estimates): {fits}.").format(fits=fits))
    else:
        wider = say("No design fits: widen the tolerance ({budget}) or the range of layers or MLP widths, or take a smaller multiple.")
        said.append(wider.format(budget=_wider(found.budget)))
    return Document(head, figure, (*_scatter(found, say), *((Table(tuple(columns), rows),) if rows else ()), *notes(said)))


def _wider(budget: Budget) -> str:
    """Write a budget with twice its tolerance, two percent at least, as it would be typed.

    >>> from weighbridge.designs.budget import parse_budget
    >>> _wider(parse_budget("100M")), _wider(parse_budget("3B±2%"))
    ('100M±2%', '3B±4%')
    """
    percent = max(2, -(-200 * (budget.high - budget.target) // budget.target))
    return f"{quantity(budget.target).replace(' ', '')}±{percent}%"


def _scatter(found: Search, say: Say) -> Iterator[Plot]:
    """Yield the designs as points, those on the Pareto front apart: cache against arithmetic, or without a cache layers against arithmetic."""
    everywhere = (*found.front, *found.others)
    if len(everywhere) < 2:
        return
    caches = any(row.cache for row in everywhere)
    titles = (say(TITLES["flops"]), say(TITLES["cache"])) if caches else (say("layers"), say(TITLES["flops"]))
    series = []
    for label, rows in ((say("others"), found.others), (say("Pareto front"), found.front)):
        points = tuple((row.flops, row.cache) if caches else (row.layers, row.flops) for row in rows)
        series += [(label, points)] if points else []
    yield Plot(tuple(series), titles)
