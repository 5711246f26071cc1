"""Comma-separated values: the tables alone, numbers without separators, one header row each."""

from __future__ import annotations

from weighbridge.documents.document import Cell, Document, Share


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
    for number, table in enumerate(document.tables):
        kept = table.shown("path")
        if number:
            out.write("\n")
        writer.writerow([table.columns[i].title for i in kept])
        writer.writerows([_plain(row.cells[i], table.columns[i].kind) for i in kept] for row in table.rows)
    return out.getvalue()


def _plain(cell: Cell, kind: str) -> object:
    if kind == "share" and isinstance(cell, str):  # a remark, and no number
        return None
    return str(cell).removesuffix("%") if isinstance(cell, Share) else cell
