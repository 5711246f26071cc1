"""The differences of two models as a document and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import with_sign
from weighbridge.core.tree import Row as TensorRow
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.layer_names import folded_name, pattern
from weighbridge.verification.diff import Difference


def as_json(found: Difference) -> dict[str, Any]:
    """Return the answer of ``weigh diff --json``."""
    changes = {
        kind: [change._asdict() for change in getattr(found, kind)] for kind in ("reshaped", "retyped", "retied", "recast", "fields")
    }
    lone = {kind: [_tensor(row) for row in getattr(found, kind)] for kind in ("added", "gone")}
    parameters = {"a": found.unique_a, "b": found.unique_b, "difference": found.unique_b - found.unique_a}
    return {"a": found.a, "b": found.b, "same": found.same, "parameters": parameters, "equal": found.equal, **lone, **changes}


def _tensor(row: TensorRow) -> dict[str, Any]:
    return {"name": row.name, "shape": list(row.shape), "count": row.count, "role": row.role, "dtype": row.dtype, "tied_to": row.tied_to}


TITLES = {
    "reshaped": mark("other shape"),
    "retyped": mark("other type"),
    "retied": mark("other storage"),
    "recast": mark("buffer on one side"),
    "gone": mark("only in A"),
    "added": mark("only in B"),
}


def document(found: Difference, lang: str = "en") -> Document:
    """Lay out what differs: fields first, then tensors, those of equal layers folded."""
    say = translator(lang)
    tables, shown = [], _Values(say)
    if found.fields:
        rows = [Row((change.name, _field(change.a), _field(change.b))) for change in found.fields]
        tables.append(_table(rows, say("config"), say("field"), "A", "B"))
    for kind in ("reshaped", "retyped", "retied", "recast"):
        rows = _fold_lines((change.name, shown[change.a], shown[change.b]) for change in getattr(found, kind))
        tables += [_table(rows, say(TITLES[kind]), say("tensor"), "A", "B")] if rows else []
    for kind in ("gone", "added"):
        rows = _fold_lines((row.name, shown[row.shape], row.role) for row in getattr(found, kind))
        tables += [_table(rows, say(TITLES[kind]), say("tensor"), say("shape"), say("role"))] if rows else []
    figures = {"a": f"{found.unique_a:,}", "b": f"{found.unique_b:,}", "equal": f"{found.equal:,}"}
    texts = [say("A: {a} parameters. B: {b}. {equal} tensors are the same.").format(**figures)]
    if found.renamed:
        texts.append(say("B's names were mapped to A's: a prefix, or older names."))
    more = say("{more} parameters").format(more=with_sign(found.unique_b - found.unique_a))
    title = say("{a} against {b}").format(a=found.a, b=found.b)
    return Document(title, say("the same tensors") if found.same else more, (*tables, *notes(texts)), lang)


def _table(rows: list[Row], title: str, *columns: str) -> Table:
    return Table(tuple(map(Column, columns)), tuple(rows), title)


def _field(value: object) -> str:
    """Write a field's value as the config has it: ``null`` and ``["LlamaForCausalLM"]``, but a name without its quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


class _Values(dict[object, str]):
    """Shapes, types, roles and owners as they are written; each is written once, since of a hundred thousand tensors few differ."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def __missing__(self, value: object) -> str:
        text = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else self._say("its own") if value is None else f"{value}"
        self[value] = text
        return text


def _fold_lines(lines: Iterable[tuple[str, str, str]]) -> list[Row]:
    """Fold lines that differ only by the number of a layer or an expert."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, one, two in lines:
        groups.setdefault((pattern(name), one, two), []).append(name)
    return [Row((folded_name(names), one, two)) for (_, one, two), names in groups.items()]
