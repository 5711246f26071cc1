"""The tables of a text: Markdown, org and HTML rows with bars between their cells, grids, and columns set by spaces or tabs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from weighbridge.auditing.claims import Line


class Cell(NamedTuple):
    """A cell's text, and where it stands in its line as read."""

    text: str
    start: int
    end: int


class Row(NamedTuple):
    """A row: the index of its line, and its cells."""

    line: int
    cells: tuple[Cell, ...]


class Table(NamedTuple):
    """A table: its head (empty if it has none) and its other rows."""

    head: tuple[Row, ...]
    rows: tuple[Row, ...]

    @property
    def lines(self) -> frozenset[int]:
        """The indices of all its lines."""
        return frozenset(row.line for row in (*self.head, *self.rows))


_RULE = re.compile(r"^[\s|+:=\-–—─]*$")
_WIDE = re.compile(r" {2,}|\t+")
_NUMBER = re.compile(r"\d")
_MOST = 400
"""Cells of a row; what has more is no table that a person reads."""


def tables(lines: Sequence[Line]) -> list[Table]:
    """Return the tables of a text.

    >>> found = tables([Line(1, "", "| a | b |", ()), Line(2, "", "|---|---|", ()), Line(3, "", "| c | 12 |", ())])
    >>> [[cell.text for cell in row.cells] for row in (*found[0].head, *found[0].rows)]
    [['a', 'b'], ['c', '12']]
    """
    found: list[Table] = []
    block: list[tuple[Row | None, int]] = []
    for index, line in enumerate(lines):
        row = _row(line, index)
        rule = bool(line.text.strip()) and _RULE.match(line.text) is not None and bool(set(line.text) & set("-=─"))
        if row is None and not rule:
            if not line.text.strip() and block and _has_bar(lines, index + 1):
                continue  # an HTML table has blank lines between its rows
            found += _close(block)
            block = []
        else:
            block.append((None if rule else row, index))
    return found + _close(block) + _pasted_tables(lines, {row.line for table in found for row in (*table.head, *table.rows)})


_PASTED = (2, 8)
"""Columns of a table that was pasted without its bars, at least and at most."""
_FIGURE = re.compile(r"[~≈]?\d[\d,.]*(?:[KMBT%]|[KMGT]B)?|[-–—]", re.IGNORECASE)


def _pasted_tables(lines: Sequence[Line], taken: set[int]) -> list[Table]:
    """Return the tables that were pasted without bars: lines of as many words, all but the first of them figures, below words."""
    found: list[Table] = []
    index = 0
    while index + 2 < len(lines):
        head = _words(lines[index], index)
        width = len(head.cells) if head is not None else 0
        last = index + 1
        while head is not None and last < len(lines) and last not in taken and _has_figures(_words(lines[last], last), width):
            last += 1
        rows = tuple(row for place in range(index + 1, last) if (row := _words(lines[place], place)) is not None)
        if head is not None and len(rows) > 1 and index not in taken and not _NUMBER.search(lines[index].text):
            found.append(Table((head,), rows))
        index = max(index + 1, last - 1)
    return found


def _words(line: Line, index: int) -> Row | None:
    words = [Cell(match[0], match.start(), match.end()) for match in re.finditer(r"[^ ]+", line.text[:200])]
    return Row(index, tuple(words)) if _PASTED[0] <= len(words) <= _PASTED[1] and len(line.text) < 200 else None


def _has_figures(row: Row | None, width: int) -> bool:
    if row is None or len(row.cells) != width:
        return False
    return all(_FIGURE.fullmatch(cell.text) for cell in row.cells[1:]) and _FIGURE.fullmatch(row.cells[0].text) is None


def _has_bar(lines: Sequence[Line], index: int) -> bool:
    return index < len(lines) and lines[index].text.count("|") > 1 and "<t" in lines[index].raw and "<" in lines[index - 2].raw


def _row(line: Line, index: int) -> Row | None:
    text = line.text
    if text.count("|") >= 2 or (text.count("|") == 1 and text.strip().strip("|").count("|") == 1):
        return Row(index, _cells(text, re.compile(r"\|")))
    raw = line.raw if len(line.raw) == len(line.text) else text
    if "=" in text or (not _NUMBER.search(text) and len(text) > 200):
        return None
    cells = _cells(raw if "\t" in raw else text, _WIDE)
    return Row(index, cells) if len(cells) >= 2 and max(len(cell.text) for cell in cells) < 60 else None


def _cells(text: str, divider: re.Pattern[str]) -> tuple[Cell, ...]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    bars = divider.pattern == r"\|"
    if bars:
        start += text[start : start + 1] == "|"
        end -= end > start and text[end - 1] == "|"
    cells: list[Cell] = []
    place = start
    for match in [*divider.finditer(text, start, end), None][:_MOST]:
        stop = match.start() if match is not None else end
        piece = text[place:stop]
        left = place + len(piece) - len(piece.lstrip())
        cells.append(Cell(piece.strip(), left, left + len(piece.strip())))
        place = match.end() if match is not None else end
    return tuple(cells)


def _close(block: Sequence[tuple[Row | None, int]]) -> list[Table]:
    rows = [row for row, _ in block if row is not None]
    if len(rows) < 2:
        return []
    width = max(len(row.cells) for row in rows)
    if width < 2:
        return []
    rule = next((place for place, (row, _) in enumerate(block) if row is None and any(r for r, _ in block[:place])), None)
    if rule is not None and rule <= 3:
        head = [row for row, _ in block[:rule] if row is not None]
    else:
        head = rows[:1] if not any(_is_amount(cell.text) for cell in rows[0].cells[1:]) else []
        while head and len(head) < 3 and len(head) < len(rows) and not any(_NUMBER.search(c.text) for c in rows[len(head)].cells):
            head.append(rows[len(head)])
    return [Table(tuple(head), tuple(row for row in rows if row not in head))]


def _is_amount(text: str) -> bool:
    return re.fullmatch(r"[~≈]?\s*[\d,._]+\s*(?:[KMBGT%]|GB|MB|万|亿)?", text.strip("*` ")) is not None
