"""The tensors of a model as a report and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.accounts.parameters import tally_of
from weighbridge.verification.checkpoint_names import named_rows

if TYPE_CHECKING:
    from weighbridge.documents.document import Report
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, names: str = "reference") -> list[dict[str, Any]]:
    """Return the answer of ``weigh tensors --json``.

    >>> from weighbridge import model
    >>> as_json(model("bert-base-uncased"))[0]
    {'name': 'embeddings.word_embeddings.weight', 'shape': [30522, 768], 'count': 23440896, 'role': 'embedding', 'tied_to': None}
    """
    answer = []
    for row in named_rows(model, names):
        entry = {"name": row.name, "shape": list(row.shape), "count": row.count, "role": row.role, "tied_to": row.tied_to}
        if row.dtype is not None:
            entry["dtype"] = row.dtype
        answer.append(entry)
    return answer


def report(model: ModelValue, names: str = "reference") -> Report:
    """Return the report of ``weigh tensors``: one row a tensor, in the reference's order."""
    from weighbridge.documents.count import headline
    from weighbridge.documents.document import Column, Report, Row, Table

    rows = []
    for row in named_rows(model, names):
        shape = f"[{', '.join(map(str, row.shape))}]"
        count = row.count
        assert isinstance(count, int)
        rows.append(Row((row.name, shape, count, row.role, f"= {row.tied_to}" if row.tied_to else "")))
    columns = (Column("name"), Column("shape"), Column("count", "integer"), Column("role"), Column("tied to"))
    tally = tally_of(model)
    notes = [f"{len(rows)} tensors, {tally.duplicated:,} elements by name, {tally.unique:,} unique parameters."]
    if tally.buffers:
        notes.append(f"{tally.buffers:,} elements are buffers and no parameters.")
    return Report(headline(model), f"{tally.unique:,} parameters", (Table(columns, tuple(rows)),), tuple(notes))
