"""What a census came to, and answers of one: as documents and as JSON."""

from __future__ import annotations

from typing import Any

from weighbridge.core.messages import mark, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.inventory.query import QUESTIONS, Answer
from weighbridge.inventory.run import Summary


def as_json(found: Summary) -> dict[str, Any]:
    """Return the answer of ``weigh census --json``.

    >>> as_json(Summary("out", {"ok": 2}, 1, 0, 0, 0.5))["rows"]
    2
    """
    return {
        "out": found.out,
        "rows": found.rows,
        "counts": found.counts,
        "parts": found.parts,
        "skipped": found.skipped,
        "removed": found.removed,
        "seconds": round(found.seconds, 3),
    }


ONE_PART = mark("1 part in {seconds} s, {rate} rows per second")


def document(found: Summary, lang: str = "en") -> Document:
    """Lay out how a census went."""
    say = translator(lang)
    names = {"ok": say("weighed"), "unknown": say("unknown model type"), "error": say("not readable, or no model")}
    rows = tuple(Row((names[status], found.counts[status])) for status in names if status in found.counts)
    said = [
        say("{parts} parts in {seconds} s, {rate} rows per second" if found.parts != 1 else ONE_PART).format(
            parts=f"{found.parts:,}", seconds=f"{found.seconds:.1f}", rate=f"{found.rows / max(found.seconds, 1e-9):,.0f}"
        )
    ]
    if found.skipped:
        said.append(say("{n} parts were there from an earlier run").format(n=f"{found.skipped:,}"))
    if found.removed:
        said.append(say("{n} parts of what is not there any more were removed").format(n=f"{found.removed:,}"))
    said.append(say("ask it: weigh census query {out} {question}").format(out=found.out, question="summary"))
    figure = say("{n} rows").format(n=f"{found.rows:,}")
    return Document(found.out, figure, (Table((Column(say("status")), Column(say("rows"), "integer")), rows), *notes(said)))


def answer_json(found: Answer) -> list[dict[str, Any]]:
    """Return the answer to a question as a list of rows."""
    return [dict(zip(found.columns, map(_cell_value, row), strict=True)) for row in found.rows]


def answer_document(question: str, found: Answer, lang: str = "en") -> Document:
    """Lay out the answer to a question."""
    say = translator(lang)
    numbers = [name != "year" and all(row[i] is None or type(row[i]) is int for row in found.rows) for i, name in enumerate(found.columns)]
    columns = tuple(
        Column(name.replace("_", " "), "integer" if number and found.rows else "text")
        for name, number in zip(found.columns, numbers, strict=True)
    )
    rows = tuple(
        Row(tuple("" if cell is None else cell if number else str(cell) for cell, number in zip(row, numbers, strict=True)))
        for row in found.rows
    )
    title = say(QUESTIONS[question].meaning) if question in QUESTIONS else question
    return Document(title, say("{n} rows").format(n=f"{len(rows):,}"), (Table(columns, rows),))


def _cell_value(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
