"""Plain text of fixed width, for pipes and files: aligned, without colour."""

from __future__ import annotations

import textwrap
from unicodedata import east_asian_width

from weighbridge.documents.document import Report, Table
from weighbridge.documents.renderers import written


def render(report: Report, *, width: int = 100) -> str:
    """Draw *report* as plain text.

    >>> from weighbridge.documents.document import Column, Row, Table
    >>> table = Table((Column("module"), Column("count", "integer")), (Row(("pooler", 590592)),))
    >>> print(render(Report("BertModel", tables=(table,))), end="")
    BertModel
    <BLANKLINE>
    module    count
    pooler  590,592
    """
    gap = max(width - measure(report.headline) - measure(report.figure), 2)
    blocks = [(report.headline + " " * gap + report.figure).rstrip()]
    blocks += [table_text(table) for table in report.tables]
    notes = [line for note in report.notes for line in wrapped(note, width)]
    if notes:
        blocks.append("\n".join(notes))
    return "\n\n".join(blocks) + "\n"


def table_text(table: Table) -> str:
    """Draw one table; numbers and shares are set flush right."""
    kept = table.shown()
    grid = [[table.columns[i].title if table.headed else "" for i in kept]]
    grid += [[("  " * row.depth if i == 0 else "") + written(row.cells[i]) for i in kept] for row in table.rows]
    widths = [max(measure(line[n]) for line in grid) for n in range(len(kept))]
    right = [table.columns[i].kind in ("integer", "share") for i in kept]
    lines = [
        "  ".join(pad(cell, size, right=flush) for cell, size, flush in zip(line, widths, right, strict=True)).rstrip() for line in grid
    ]
    if not table.headed:
        lines = lines[1:]
    return "\n".join([table.title, *lines] if table.title else lines)


def measure(text: str) -> int:
    """Return the columns that *text* takes: a Chinese character takes two.

    >>> measure("嵌入层")
    6
    """
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def pad(text: str, size: int, *, right: bool = False) -> str:
    """Fill *text* up to *size* columns."""
    blank = " " * (size - measure(text))
    return blank + text if right else text + blank


def wrapped(note: str, width: int) -> list[str]:
    """Break a note into lines; one that has its own line breaks, or is Chinese, keeps its own."""
    if "\n" in note or measure(note) != len(note):
        return note.splitlines()
    return textwrap.wrap(note, width, break_long_words=False, break_on_hyphens=False) or [""]
