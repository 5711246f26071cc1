"""Comma-separated values: the tables alone, numbers without separators, one header row each; of a document without any, its figures."""

from __future__ import annotations

from weighbridge.core.messages import mark, translator
from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Cell, Column, Document, Equation, Heading, Item, Row, Share, Table

WHAT, VALUE = mark("what"), mark("value")
"""Over the figures of a document that has no table."""


def render(document: Document, *, width: int = 0) -> str:
    """Write the tables of *document*; an empty line stands between two.

    >>> from weighbridge.documents.document import Column, Row, Table
    >>> table = Table((Column("module"), Column("count", "integer")), (Row(("pooler", 590592)),))
    >>> print(render(Document("BertModel", blocks=(table,))), end="")
    module,count
    pooler,590592
    """
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, table in enumerate(document.tables or (_figures(document),)):
        kept = table.visible_columns("path")
        if number:
            out.write("\n")
        writer.writerow([_csv_value(table.columns[i].title, "") for i in kept])
        writer.writerows([_csv_value(row.cells[i], table.columns[i].kind) for i in kept] for row in table.rows)
    return out.getvalue()


def _figures(document: Document) -> Table:
    """Return what a document without tables says, as one: a derivation by its sections and equations, an answer by its title.

    >>> _figures(Document("a against b", "the same tensors")).rows[0].cells
    ('a against b', 'the same tensors')
    """
    say = translator(document.lang)
    rows = [Row((document.title, _number(document.figure)))] if document.heading else []
    above = ""
    for block in document.blocks:
        if isinstance(block, Heading) and block.figure:
            rows.append(Row((block.text, _number(block.figure))))
        elif isinstance(block, (Heading, Item)):
            above = " ".join((block.text, *(block.code if isinstance(block, Item) else ()))).strip()
        elif isinstance(block, Equation):
            rows.append(Row((block.label or above, " = ".join(write(step, UNICODE) for step in block.steps))))
            above = ""
    return Table((Column(say(WHAT)), Column(say(VALUE))), tuple(rows))


def _number(figure: str) -> str | int:
    """Return a number that is written with separators as the number; other figures stay as they are."""
    plain = figure.replace(",", "")
    return int(plain) if plain.isascii() and plain.isdecimal() and len(plain) <= 4000 else figure


def _csv_value(cell: Cell, kind: str) -> object:
    if kind == "share" and isinstance(cell, str):  # a remark, and no number
        return None
    if isinstance(cell, Share):
        return str(cell).removesuffix("%")
    if kind == "tie" and isinstance(cell, str):
        cell = cell.removeprefix("= ")
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would compute a text, and not show it: an apostrophe in front keeps it from that.

    >>> _is_formula("=cmd|' /C calc'!A0"), _is_formula("-83,712"), _is_formula("encoder")
    (True, False, False)
    """
    start = text.lstrip()
    return (
        start[:1] in ("=", "+", "-", "@", "＝", "＋", "－", "＠") and not start.lstrip("+-").replace(",", "").replace(".", "").isdecimal()
    )
