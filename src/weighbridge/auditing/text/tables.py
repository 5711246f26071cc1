"""The tables of a text: Markdown, org and HTML rows with bars between their cells, grids, and columns set by spaces or tabs."""

from __future__ import annotations

from bisect import bisect_right

from weighbridge.core._namedtuple import NamedTuple


class Cell(NamedTuple):
    """A cell's text, and where it stands: its columns in its line as read, and the index of that line."""

    text: str
    start: int
    end: int
    line: int = -1


class Row(NamedTuple):
    """A row: the index of its line, and its cells; those of an HTML row may each stand on a line of their own."""

    line: int
    cells: tuple[Cell, ...]


class Table(NamedTuple):
    """A table: its head (empty if it has none), its other rows, the indices of all its lines, and the first of them."""

    head: tuple[Row, ...]
    rows: tuple[Row, ...]
    lines: frozenset[int]
    first: int = 0

    def row_of(self, line: int) -> Row | None:
        """Return the row that a line is part of, other than the head."""
        place = bisect_right(self.rows, line, key=lambda row: row.line) - 1
        row = self.rows[place] if place >= 0 else None
        return row if row is not None and line <= row.cells[-1].line else None
