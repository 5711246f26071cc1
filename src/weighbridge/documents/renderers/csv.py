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
        kept = table.visible_columns("path")
        if number:
            out.write("\n")
        writer.writerow([_plain(table.columns[i].title, "") for i in kept])
        writer.writerows([_plain(row.cells[i], table.columns[i].kind) for i in kept] for row in table.rows)
    return out.getvalue()


def _plain(cell: Cell, kind: str) -> object:
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
