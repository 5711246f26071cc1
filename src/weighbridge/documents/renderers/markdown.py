"""GitHub's Markdown: tables with aligned columns."""

from __future__ import annotations

from weighbridge.documents.document import Report, Table
from weighbridge.documents.renderers import written


def render(report: Report, *, width: int = 100) -> str:
    """Draw *report* as Markdown; depth is shown by non-breaking spaces.

    >>> from weighbridge.documents.document import Column, Row, Table
    >>> table = Table((Column("module"), Column("count", "integer")), (Row(("pooler", 590592)),))
    >>> print(render(Report("BertModel", tables=(table,))), end="")
    **BertModel**
    <BLANKLINE>
    | module | count |
    | --- | ---: |
    | pooler | 590,592 |
    """
    head = f"**{report.headline}**" + (f": {report.figure}" if report.figure else "")
    return "\n\n".join([head, *map(table_markdown, report.tables), *report.notes]) + "\n"


def table_markdown(table: Table) -> str:
    """Draw one table as Markdown."""
    kept = table.shown()
    rules = ["---:" if table.columns[i].kind in ("integer", "share") else "---" for i in kept]
    lines = [[table.columns[i].title for i in kept], rules]
    for row in table.rows:
        indent = "&nbsp;&nbsp;" * row.depth
        lines.append([(indent if i == 0 else "") + written(row.cells[i]).replace("|", r"\|") for i in kept])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{table.title}**\n\n{text}" if table.title else text
