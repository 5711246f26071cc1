"""All legitimate counts of a model as a document and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.conventions.counts import Count, counts
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Column, Document, Row, Table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

GROUPS = {
    "class": mark("by class"),
    "loading": mark("built and loaded"),
    "storage": mark("by storage"),
    "left out": mark("with something left out"),
    "part": mark("of a part"),
    "law": mark("for scaling laws and estimates"),
    "published": mark("as published"),
}


def document(model: ModelValue, lang: str = "en") -> Document:
    """Lay the counts of a model out, group by group.

    >>> from weighbridge import model
    >>> document(model("bert-base-uncased")).figure
    '109,482,240 parameters'
    """
    say = translator(lang)
    rows = counts(model, lang)
    tables = [_table([row for row in rows if row.group == group], say(title), say) for group, title in GROUPS.items()]
    figure = say("{total} parameters").format(total=f"{rows[0].value:,}")
    return Document(f"{rows[0].class_name} · {model.source}", figure, tuple(table for table in tables if table.rows), lang)


COLUMNS = ((mark("count"), "text"), (mark("value"), "integer"), (mark("definition"), "text"), (mark("used by"), "text"))


def as_json(model: ModelValue, lang: str = "en") -> list[dict[str, Any]]:
    """Return the counts of a model as plain data."""
    return [
        {
            "key": row.key,
            "group": row.group,
            "class": row.class_name,
            "name": row.name,
            "value": row.value,
            "published": row.written or None,
            "definition": row.definition,
            "source": row.source,
        }
        for row in counts(model, lang)
    ]


def _table(rows: list[Count], title: str, say: Say) -> Table:
    """Lay one group out; what all its rows but the first have in common stands once, in its title."""
    columns = tuple(Column(say(name), kind) for name, kind in COLUMNS)
    told = {(row.definition, row.source) for row in rows[1:]}
    if len(rows) > 2 and len(told) == 1:
        definition, source = told.pop()
        return Table(
            columns[:2],
            tuple(Row(_cells(row)[:2]) for row in rows),
            say("{title}: {definition} ({source})").format(title=title, definition=definition, source=source),
        )
    return Table(columns, tuple(Row(_cells(row)) for row in rows), title)


def _cells(row: Count) -> tuple[str | int, ...]:
    return (row.name, row.value if row.value is not None else row.written, row.definition, row.source)
