"""A difference of two models as a report and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from weighbridge.core.tree import Row as TensorRow
from weighbridge.documents.document import Cell, Column, Report, Row, Table
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


def report(found: Difference) -> Report:
    """Lay out what differs: fields first, then tensors, those of equal layers folded."""
    tables = []
    if found.fields:
        columns = (Column("field"), Column("A"), Column("B"))
        tables.append(Table(columns, tuple(Row((change.name, f"{change.a}", f"{change.b}")) for change in found.fields), "config"))
    titles = {"reshaped": "other shape", "retyped": "other type", "retied": "other storage", "recast": "buffer on one side"}
    for kind, title in titles.items():
        rows = _folded((change.name, _shown(change.a), _shown(change.b)) for change in getattr(found, kind))
        if rows:
            tables.append(Table((Column("tensor"), Column("A"), Column("B")), tuple(rows), title))
    for kind, title in (("gone", "only in A"), ("added", "only in B")):
        rows = _folded((row.name, _shown(row.shape), row.role) for row in getattr(found, kind))
        if rows:
            tables.append(Table((Column("tensor"), Column("shape"), Column("role")), tuple(rows), title))
    notes = [f"A: {found.unique_a:,} parameters. B: {found.unique_b:,}. {found.equal:,} tensors are the same."]
    if found.renamed:
        notes.append("B's names were brought to A's: a prefix, or older names")
    difference = found.unique_b - found.unique_a
    return Report(
        f"{found.a} against {found.b}", "the same tensors" if found.same else f"{difference:+,} parameters", tuple(tables), tuple(notes)
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return "its own" if value is None else f"{value}"


def _folded(lines: Iterable[tuple[str, str, str]]) -> list[Row]:
    """Fold lines that differ only by the number of a layer or an expert."""
    groups: dict[tuple[str, str, str], int] = {}
    for name, one, two in lines:
        key = (re.sub(r"(?<=\.)\d+(?=\.)", "*", f".{name}")[1:], one, two)
        groups[key] = groups.get(key, 0) + 1
    return [Row(_cells(key, count)) for key, count in groups.items()]


def _cells(key: tuple[str, str, str], count: int) -> tuple[Cell, ...]:
    name, one, two = key
    return (f"{name} × {count}" if count > 1 else name, one, two)
