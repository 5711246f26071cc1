"""A sweep over sizes: as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.core.messages import Say, translator
from weighbridge.designs.sweep import Sweep
from weighbridge.documents.document import Column, Document, Plot, Row, Table, notes
from weighbridge.value import ModelValue

MOST_POINTS, MOST_CURVES = 2_000, 4
"""Beyond so many, a picture of curves shows nothing."""
SHOWN = 200
"""Rows of the table on a page; JSON and CSV have all."""


def as_json(model: ModelValue, found: Sweep) -> dict[str, Any]:
    """Return the answer of ``weigh sweep --json``.

    >>> from weighbridge import model
    >>> from weighbridge.designs.sweep import sweep
    >>> bert = model("bert-base-uncased")
    >>> as_json(bert, sweep(bert, {"num_hidden_layers": [6]}))["rows"]
    [{'num_hidden_layers': 6, 'parameters': 66955008}]
    """
    return {
        "source": model.source,
        "class": model.class_name,
        "keys": list(found.keys),
        "rows": list(found.rows),
        "refusals": found.refusals,
        "refused": [{"values": values, "reason": reason} for values, reason in found.refused],
        "doublings": [one._asdict() for one in found.doublings],
    }


def document(model: ModelValue, found: Sweep, lang: str = "en", *, every: bool = False) -> Document:
    """Lay a sweep out: a row for every combination, and what doubling each size does."""
    say = translator(lang)
    names = [name for name in (found.rows[0] if found.rows else ()) if name not in found.keys]
    columns = [Column(key, "integer") for key in found.keys] + [Column(say(name.replace("_", " ")), "integer") for name in names]
    shown = found.rows if every else found.rows[:SHOWN]
    table = Table(tuple(columns), tuple(Row(tuple(row.values())) for row in shown))
    said = [
        say("doubling {key} from {value} takes {before} parameters to {after} (× {factor})").format(
            key=one.key, value=f"{one.value:,}", before=f"{one.before:,}", after=f"{one.after:,}", factor=f"{one.after / one.before:.2f}"
        )
        for one in found.doublings
    ]
    if len(shown) < len(found.rows):
        said.append(say("{n} more rows are in the JSON and the CSV").format(n=f"{len(found.rows) - len(shown):,}"))
    if found.refusals:
        said.append(
            say("{n} combinations make no model, such as {values}: {reason}").format(
                n=f"{found.refusals:,}",
                values=", ".join(f"{key} = {value:,}" for key, value in found.refused[0][0].items()),
                reason=found.refused[0][1],
            )
        )
    head = say("{source}: parameters over {keys}").format(source=f"{model.class_name} · {model.source}", keys=", ".join(found.keys))
    return Document(head, say("{n} configs").format(n=f"{len(found.rows):,}"), (*_curves(found, names, say), table, *notes(said)))


def _curves(found: Sweep, names: list[str], say: Say) -> Iterator[Plot]:
    """Yield curves: an account over the key of most values, a curve for each of a few values of another key, or for each account."""
    many = max(found.keys, key=lambda key: len({row[key] for row in found.rows}))
    others = [key for key in found.keys if key != many]
    if len({row[many] for row in found.rows}) < 2 or len(found.rows) > MOST_POINTS:
        return
    labels = {tuple(row[key] for key in others): "" for row in found.rows}
    if len(labels) > MOST_CURVES or (len(labels) > 1 and len(names) > 1):
        return
    series = []
    for values in labels:
        alike = [row for row in found.rows if tuple(row[key] for key in others) == values]
        for name in names:
            label = ", ".join(f"{key} = {value:,}" for key, value in zip(others, values, strict=True)) or say(name.replace("_", " "))
            series.append((label, tuple((row[many], row[name]) for row in alike)))
    yield Plot(tuple(series), (many, say("parameters")), joined=True)
