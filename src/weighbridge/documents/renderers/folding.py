"""A table that folds, for pages and notebooks: nested ``<details>``, so that it needs no script."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.documents.document import Row, Share, Table
from weighbridge.documents.renderers import write_cell
from weighbridge.documents.renderers.markup import escape

STYLE = """.fold{font-variant-numeric:tabular-nums;overflow-x:auto}
.fold .row{display:grid;grid-template-columns:minmax(13em,1fr) minmax(0,15em) 9em 4em 7em;gap:0 1em;padding:.1em 0;align-items:baseline;min-width:34em}
.fold summary{list-style:none;cursor:pointer}.fold summary::-webkit-details-marker{display:none}
.fold .row>:first-child::before{content:"";display:inline-block;width:1.1em;opacity:.6}
.fold summary>.row>:first-child::before{content:"\\25b8"}.fold details[open]>summary>.row>:first-child::before{content:"\\25be"}
.fold .head{border-bottom:1px solid #8886}.fold .head span{opacity:.7;font-size:.85em}.fold .strong{font-weight:600}.fold .shape{opacity:.75;font-weight:400}
.fold .row>:nth-child(n+3){text-align:right}.fold .bar{height:.5em;background:none;text-align:left!important}
.fold .bar i{float:left;height:100%}.fold .bar i:not([class]){background:#1763b6}
@media(max-width:40em){.fold .row{grid-template-columns:minmax(0,1fr) auto 4em;min-width:0}.fold .shape,.fold .bar{display:none}}"""
"""What the table looks like; numbers stand flush right, whatever their depth."""


def fold_table(table: Table) -> str:
    """Draw the rows of a tree: module, shape, amount, share and bar; rows under another fold into it.

    >>> from weighbridge.documents.document import Column
    >>> columns = tuple(Column(name) for name in ("module", "shape", "amount", "share", ""))
    >>> "<details" in fold_table(Table(columns, (Row(("a", "", 3, None, None)), Row(("b", "3", 3, None, None), 1))))
    True
    """
    module, shape, *others = (escape(column.title) for column in table.columns[:4])
    titles = f'<span>{module}</span><span class="shape">{shape}</span>' + "".join(f"<span>{title}</span>" for title in others)
    return f'<div class="fold"><div class="row head">{titles}<span class="bar"></span></div>{_rows(table.rows)}</div>'


def _rows(rows: Sequence[Row]) -> str:
    """Draw rows of one depth, each with the deeper ones that follow it inside."""
    out, at = [], 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and rows[end].depth > rows[at].depth:
            end += 1
        line = _line(rows[at])
        inside = rows[at + 1 : end]
        out.append(f"<details open><summary>{line}</summary>{_rows(inside)}</details>" if inside else line)
        at = end
    return "".join(out)


def _line(row: Row) -> str:
    name, shape, amount, share = row.cells[:4]
    width = "".join(f'<i{_role_class(role)} style="width:{wide:.2f}%"></i>' for role, _, wide in role_bar(row))
    return (
        f'<div class="row{" strong" * row.strong}"><span style="padding-left:{1.1 * row.depth:.1f}em">{_breakable(write_cell(name))}</span>'
        f'<span class="shape">{escape(write_cell(shape))}</span><span>{write_cell(amount)}</span><span>{write_cell(share)}</span><span class="bar">{width}</span></div>'
    )


def _role_class(role: str) -> str:
    return f' class="role-{role}"' if role else ""


def _breakable(name: str) -> str:
    """Let a line end where the words of a long name meet."""
    return re.sub(r"(?<=[._])(?=\w{3})", "<wbr>", escape(name))


def role_bar(row: Row) -> list[tuple[str, float, float]]:
    """Return the bar of a row that has a share: pieces of one role, each with its start and width as percentages of the whole.

    >>> role_bar(Row(("a", "", 4, "", Share(500)), role="mixed", parts=(("mlp", 3), ("norm", 1))))
    [('mlp', 0.0, 37.5), ('norm', 37.5, 12.5)]
    >>> role_bar(Row(("a", "", 4, "1 of 12", None)))
    []
    """
    share = row.cells[4]
    if not isinstance(share, Share):
        return []
    held = row.parts or ((row.role, 1),)
    whole = sum(amount for _, amount in held)
    at, pieces = 0.0, []
    for role, amount in held:
        width = share.per_mille / 10 * amount / whole
        pieces.append((role, at, width))
        at += width
    return pieces
