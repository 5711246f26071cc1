"""A fragment of HTML, as a notebook shows it: no script, no outside style."""

from __future__ import annotations

from html import escape

from weighbridge.documents.document import Report, Table
from weighbridge.documents.renderers import written


def render(report: Report, *, width: int = 100) -> str:
    """Draw *report* as a fragment.

    >>> print(render(Report("<b>", "1 parameter")), end="")
    <div class="weighbridge"><p><strong>&lt;b&gt;</strong> 1 parameter</p></div>
    """
    head = f"<p><strong>{escape(report.headline)}</strong> {escape(report.figure)}</p>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return f'<div class="weighbridge">{head}{"".join(map(_table, report.tables))}{notes}</div>\n'


def _table(table: Table) -> str:
    kept = table.shown()
    styles = [f' style="text-align:{"right" if table.columns[i].kind in ("integer", "share") else "left"}"' for i in kept]
    head = "".join(f"<th{style}>{escape(table.columns[i].title)}</th>" for i, style in zip(kept, styles, strict=True))
    body = ""
    for row in table.rows:
        indent = "&nbsp;" * 4 * row.depth
        cells = ((indent if i == 0 else "") + escape(written(row.cells[i])) for i in kept)
        body += "<tr>" + "".join(f"<td{style}>{cell}</td>" for cell, style in zip(cells, styles, strict=True)) + "</tr>"
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
