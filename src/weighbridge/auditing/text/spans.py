"""Cells of HTML tables that reach over several rows or columns: what each row and column shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.tables import Cell
from weighbridge.core._namedtuple import NamedTuple


class Spans(NamedTuple):
    """Over how many columns and rows a cell reaches, and whether it heads them."""

    columns: int
    rows: int
    heads: bool


_CELL = pattern(r"<t(?P<kind>[dh])\b(?P<rest>[^<>]{0,500})>", re.IGNORECASE)
_COLUMNS = pattern(r"\bcolspan\s*=\s*[\"']?\s*(\d{1,4})", re.IGNORECASE)
_ROWS = pattern(r"\browspan\s*=\s*[\"']?\s*(\d{1,4})", re.IGNORECASE)
_WIDEST, _LONGEST, _MOST = 50, 1000, 400
"""Columns and rows that a cell reaches over, and cells of a row, at most."""


def spans_of(raw: str) -> list[Spans]:
    """Return over what the cells reach that begin in a line of HTML.

    >>> spans_of('<th rowspan="2">Model</th><td colspan=3>')
    [Spans(columns=1, rows=2, heads=True), Spans(columns=3, rows=1, heads=False)]
    """
    return [
        make_spans(_number(_COLUMNS, found["rest"]), _number(_ROWS, found["rest"]), heads=found["kind"] in "hH")
        for found in _CELL.finditer(raw)
    ]


def make_spans(columns: str, rows: str, *, heads: bool) -> Spans:
    """Read over how many columns and rows a cell reaches, within bounds.

    >>> make_spans("99999", "x", heads=False)
    Spans(columns=1, rows=1, heads=False)
    """
    return Spans(_within(columns, _WIDEST), _within(rows, _LONGEST), heads)


def _within(written: str, most: int) -> int:
    return max(1, min(int(written), most)) if written.isascii() and written.isdigit() and len(written) < 5 else 1


def _number(of: re.Pattern[str], text: str) -> str:
    found = of.search(text)
    return found[1] if found is not None else ""


class SpannedRows:
    """Lays the rows of one table out: a name that reaches over several rows stands in each, a figure in its first alone.

    >>> rows = SpannedRows()
    >>> [cell.text for cell in rows.lay_out([(Cell("GPT-2", 0, 5), Spans(1, 2, False)), (Cell("12", 6, 8), Spans(1, 1, False))])]
    ['GPT-2', '12']
    >>> [cell.text for cell in rows.lay_out([(Cell("24", 0, 2), Spans(1, 1, False))])]
    ['GPT-2', '24']
    """

    def __init__(self) -> None:
        self.reaching: dict[int, tuple[Cell, int]] = {}

    def lay_out(self, cells: Sequence[tuple[Cell, Spans]]) -> list[Cell]:
        """Return the cells of the next row, one in each of its columns."""
        row: list[Cell] = []
        below: dict[int, tuple[Cell, int]] = {}
        for cell, spans in cells:
            self._reach_into(row, below)
            again = cell if spans.heads and spans.columns > 1 else cell._replace(text="")
            for one in (cell, *[again] * (spans.columns - 1)):
                if spans.rows > 1:
                    below[len(row)] = _shown_again(one), spans.rows - 1
                row.append(one)
            if len(row) >= _MOST:
                break
        self._reach_into(row, below)
        self.reaching = below
        return row

    def _reach_into(self, row: list[Cell], below: dict[int, tuple[Cell, int]]) -> None:
        """Add the cells from above that the next columns of a row have."""
        while len(row) in self.reaching and len(row) < _MOST:
            cell, rows = self.reaching[len(row)]
            if rows > 1:
                below[len(row)] = cell, rows - 1
            row.append(cell)


def _shown_again(cell: Cell) -> Cell:
    return cell if _LETTER.search(cell.text) else cell._replace(text="")


_LETTER = pattern(r"[^\W\d_]")
