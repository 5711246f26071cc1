"""An Excel workbook: the text on the first sheet, each table on one of its own."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.documents.document import Cell, Document, Heading, Share, Table
from weighbridge.documents.renderers.layout import lines

MOST_ROWS = (1 << 20) - 1
LONGEST = (1 << 15) - 1
"""Letters that a cell holds."""

EXACT = 1 << 53
"""A cell of a workbook is a double: a whole number above this would lose units, so it is written as text."""


def render(document: Document, *, width: int = 0) -> bytes:
    """Write *document* as a workbook.

    Raises:
        UsageError: XlsxWriter is not installed.
    """
    try:
        from xlsxwriter import Workbook
    except ImportError:
        raise UsageError("a workbook needs the extra excel: pip install 'weighbridge[excel]'") from None
    out = BytesIO()
    with Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}) as book:
        _words(book, document)
        taken = {"weighbridge"}
        for title, table in _tables(document):
            _sheet(book, _name(title, taken), table)
    return out.getvalue()


def _words(book: Any, document: Document) -> None:
    sheet = book.add_worksheet("Weighbridge")
    sheet.set_column(0, 0, 120)
    bold = book.add_format({"bold": True})
    words = document._replace(blocks=tuple(block for block in document.printable if not isinstance(block, Table)))
    for row, line in enumerate(lines(words)):
        sheet.write_string(row, 0, "".join(span.text for span in line), bold if any(span.style == "strong" for span in line) else None)


def _tables(document: Document) -> list[tuple[str, Table]]:
    """Return the tables, each with its own title or the heading it stands under."""
    found, heading = [], document.title
    for block in document.printable:
        if isinstance(block, Heading):
            heading = block.title
        elif isinstance(block, Table):
            found.append((block.title or heading, block))
    return found


def _name(title: str, taken: set[str]) -> str:
    """Return a unique name that Excel allows for a sheet: at most 31 characters, some of them forbidden."""
    plain = re.sub(r"[\[\]:*?/\\']", " ", title).strip()[:28] or "table"
    name = next(name for name in (plain, *(f"{plain} {number}" for number in range(2, len(taken) + 2))) if name.lower() not in taken)
    taken.add(name.lower())
    return name


def _sheet(book: Any, name: str, table: Table) -> None:
    sheet = book.add_worksheet(name)
    if len(table.rows) > MOST_ROWS:
        raise UsageError(Text("{name}: {count:,} rows; a sheet holds {most_rows:,}", name=name, count=len(table.rows), most_rows=MOST_ROWS))
    kept = table.visible_columns("path")
    head, whole, share = (book.add_format(form) for form in ({"bold": True, "bottom": 1}, {"num_format": "#,##0"}, {"num_format": "0.0%"}))
    for at, index in enumerate(kept):
        sheet.write_string(0, at, table.columns[index].title, head)
        sheet.set_column(at, at, min(max([12, *(len(str(row.cells[index])) + 4 for row in table.rows[:500])]), 60))
    for number, row in enumerate(table.rows, 1):
        for at, index in enumerate(kept):
            _cell(sheet, number, at, ("  " * row.depth if index == 0 else "", row.cells[index]), whole, share)
    sheet.freeze_panes(1, 1)


def _cell(sheet: Any, row: int, column: int, content: tuple[str, Cell], whole: Any, share: Any) -> None:
    indent, cell = content
    if isinstance(cell, Share):
        sheet.write_number(row, column, cell.per_mille / 1000, share)
    elif isinstance(cell, int):
        sheet.write_number(row, column, cell, whole) if abs(cell) <= EXACT else sheet.write_string(row, column, str(cell))
    elif cell is not None:
        sheet.write_string(row, column, (indent + cell)[:LONGEST])
