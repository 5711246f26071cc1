"""Which lines of a text are the rows of a table, and where their cells are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from weighbridge.auditing.claims import Line
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.ruled_tables import ruled_tables
from weighbridge.auditing.text.spans import SpannedRows, Spans, spans_of
from weighbridge.auditing.text.tables import Cell, Row, Table


def _table(head: tuple[Row, ...], rows: tuple[Row, ...]) -> Table:
    lines = frozenset([cell.line for row in (*head, *rows) for cell in row.cells])
    return Table(head, rows, lines, min(lines, default=0))


_RULE = pattern(r"^[\s|+:=\-–—─]*$")
_TEX_RULE = pattern(r"^\s*\\(?:h|top|mid|bottom|c(?:mid)?)(?:rule|line)\b")
_BAR = pattern(r"\|")
_ROW_END = pattern(r"\s*;\s*(?:\\hline\s*)?$")
"""What is left of the two backslashes that end a row in TeX."""
_WIDE = pattern(r" {2,}|\t+")
_NUMBER = pattern(r"\d")
_MOST = 400
"""Cells of a row; what has more is no table that a person reads."""


def tables(lines: Sequence[Line]) -> list[Table]:
    """Return the tables of a text.

    >>> found = tables([Line(1, "", "| a | b |", ()), Line(2, "", "|---|---|", ()), Line(3, "", "| c | 12 |", ())])
    >>> [[cell.text for cell in row.cells] for row in (*found[0].head, *found[0].rows)]
    [['a', 'b'], ['c', '12']]
    """
    found: list[Table] = ruled_tables(lines)
    ruled = {line for table in found for line in table.lines}
    block: list[tuple[Row | None, int]] = []
    marked = _marked_rows(lines)
    for index, line in enumerate(lines):
        if index in ruled:
            row, rule = None, False
        elif index in marked:
            row, rule = marked[index], False
            if row is None:
                continue  # its row was begun above, or it is a tag around rows
        else:
            row = _row(line, index)
            rule = bool(line.text.strip()) and _is_rule(line.text)
        if row is None and not rule:
            found += _close(block)
            block = []
        else:
            block.append((None if rule else row, index))
    found += _close(block)
    found += _comma_tables(lines, {line for table in found for line in table.lines})
    return found + _pasted_tables(lines, {line for table in found for line in table.lines})


_COMMAS = pattern(r',\s?(?=(?:[^"]*"[^"]*")*[^"]*$)')
_KEYED = pattern(r"(?:model|name|id|arch|checkpoint)\w*", re.IGNORECASE)
"""The first label of a table whose rows are of models, however many of their cells are words."""
_LABEL = pattern(r"[^\d,.;:。，]{0,30}", re.ASCII)
_VALUE = pattern(r"[~≈]?\d[\d._]*(?:[KMBT%]|[KMGT]B)?", re.IGNORECASE)


def _comma_tables(lines: Sequence[Line], taken: Collection[int]) -> list[Table]:
    """Return the tables whose cells commas divide: a line of labels, and lines of as many cells, most of them figures."""
    found: list[Table] = []
    index = 0
    while index + 1 < len(lines):
        text = lines[index].text
        index += 1
        if text.count(",") < 2 or len(text) > 400 or index - 1 in taken or not all(map(_LABEL.fullmatch, _COMMAS.split(text.strip()))):
            continue
        head, last = Row(index - 1, _cells(text, _COMMAS, index - 1)), index
        least = 1 if _KEYED.fullmatch(head.cells[0].text) else len(head.cells)
        while last < len(lines) and last not in taken and _has_values(lines[last].text, len(head.cells), least):
            last += 1
        if last > index:
            found.append(_table((head,), tuple(Row(i, _cells(lines[i].text, _COMMAS, i)) for i in range(index, last))))
            index = last
    return found


def _has_values(text: str, width: int, least: int) -> bool:
    cells = _COMMAS.split(text.strip()) if text.count(",") >= width - 1 and len(text) < 400 else []
    return len(cells) == width and 2 * sum(_VALUE.fullmatch(cell) is not None for cell in cells) >= least


_PASTED = (2, 8)
"""Columns of a table that was pasted without its bars, at least and at most."""
_FIGURE = pattern(r"[~≈]?\d[\d,.]*(?:[KMBT%]|[KMGT]B)?|[-–—]", re.IGNORECASE)


def _pasted_tables(lines: Sequence[Line], taken: set[int]) -> list[Table]:
    """Return the tables that were pasted without bars: lines of as many words, all but the first of them figures, below words."""
    found: list[Table] = []
    index = 0
    while index + 2 < len(lines):
        if not (_ends_in_figure(lines[index + 1].text) and _ends_in_figure(lines[index + 2].text)):
            index += 1
            continue
        head = _words(lines[index], index)
        width = len(head.cells) if head is not None else 0
        last = index + 1
        while head is not None and last < len(lines) and last not in taken and _has_figures(_words(lines[last], last), width):
            last += 1
        rows = tuple(row for place in range(index + 1, last) if (row := _words(lines[place], place)) is not None)
        if head is not None and len(rows) > 1 and index not in taken and not _NUMBER.search(lines[index].text):
            found.append(_table((head,), rows))
        index = max(index + 1, last - 1)
    return found


def _ends_in_figure(text: str) -> bool:
    """Tell whether the last word of a line may be a figure, as that of a row is."""
    return text.rstrip(" ").rpartition(" ")[2][:1] in _BEGINS_FIGURE


_BEGINS_FIGURE = frozenset("0123456789~≈-–—")


def _words(line: Line, index: int) -> Row | None:
    words = [Cell(match[0], match.start(), match.end(), index) for match in re.finditer(r"[^ ]+", line.text[:200])]
    return Row(index, tuple(words)) if _PASTED[0] <= len(words) <= _PASTED[1] and len(line.text) < 200 else None


def _has_figures(row: Row | None, width: int) -> bool:
    if row is None or len(row.cells) != width:
        return False
    return all(_FIGURE.fullmatch(cell.text) for cell in row.cells[1:]) and _FIGURE.fullmatch(row.cells[0].text) is None


_TAGS = pattern(r"(?:\s*</?(?:table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col)\b[^>]*>)*\s*", re.IGNORECASE)
_OPENS, _CLOSES = pattern(r"<tr\b", re.IGNORECASE), pattern(r"</tr\s*>|</table", re.IGNORECASE)
_HOLDS = pattern(r"<t[dh]\b", re.IGNORECASE)


def _marked_rows(lines: Sequence[Line]) -> dict[int, Row | None]:
    """Return the rows of HTML tables inside Markdown by the line that each begins on, and None for the lines that go on with one."""
    found: dict[int, Row | None] = {}
    cells: list[tuple[Cell, Spans]] = []
    first, inside, rows = -1, False, SpannedRows()
    for index, line in enumerate(lines):
        raw = line.raw
        if "<" not in raw and not inside:
            continue
        if "<table" in raw.lower() or _OPENS.search(raw):
            inside, rows = True, SpannedRows() if "<table" in raw.lower() else rows
        if not inside:
            continue
        if _OPENS.search(raw) or _CLOSES.match(raw.lstrip()):
            _end_row(found, first, cells, rows)
            cells, first = [], -1
        if _HOLDS.search(raw) or (cells and line.text.strip()):
            more = _cells(line.text, _BAR, index)
            if not _HOLDS.search(raw):  # the words of a cell that began above
                cells[-1] = cells[-1] if cells[-1][0].text else (more[0]._replace(text=line.text.strip()), cells[-1][1])
            else:
                cells += _with_spans(more, spans_of(raw))
                first = index if first < 0 else first
            found[index] = None
        elif _TAGS.fullmatch(raw):
            found[index] = None
        if _CLOSES.search(raw):
            _end_row(found, first, cells, rows)
            cells, first = [], -1
            inside = "</table" not in raw.lower()
    _end_row(found, first, cells, rows)
    return found


def _with_spans(cells: Sequence[Cell], spans: Sequence[Spans]) -> list[tuple[Cell, Spans]]:
    """Pair the cells of a line with what they reach over; a bar stands in the line for every column of each."""
    if sum(one.columns for one in spans) != len(cells):
        return [(cell, _PLAIN) for cell in cells]
    found, place = [], 0
    for one in spans:
        place += one.columns
        found.append((cells[place - 1], one))
    return found


_PLAIN = Spans(1, 1, False)


def _end_row(found: dict[int, Row | None], first: int, cells: Sequence[tuple[Cell, Spans]], rows: SpannedRows) -> None:
    if first >= 0 and cells:
        found[first] = Row(first, tuple(rows.lay_out(cells)[:_MOST]))


def _row(line: Line, index: int) -> Row | None:
    text = line.text
    if text.count("|") >= 2 or (text.count("|") == 1 and text.strip().strip("|").count("|") == 1):
        return Row(index, _cells(text, _BAR, index))
    raw = line.raw if len(line.raw) == len(line.text) else text
    if "  " not in text and "\t" not in raw:
        return None  # one cell
    if "=" in text or (not _NUMBER.search(text) and len(text) > 200):
        return None
    cells = _cells(raw if "\t" in raw else text, _WIDE, index)
    return Row(index, cells) if len(cells) >= 2 and max(len(cell.text) for cell in cells) < 60 else None


def _cells(text: str, divider: re.Pattern[str], line: int) -> tuple[Cell, ...]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if divider is _BAR:
        end -= len(row_end[0]) if (row_end := _ROW_END.search(text, start, end)) else 0
        start += text[start : start + 1] == "|"
        end -= end > start and text[end - 1] == "|"
    cells: list[Cell] = []
    place = start
    for match in [*divider.finditer(text, start, end), None][:_MOST]:
        stop = match.start() if match is not None else end
        piece = text[place:stop]
        left = place + len(piece) - len(piece.lstrip())
        cells.append(Cell(piece.strip(), left, left + len(piece.strip()), line))
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
    return [_table(tuple(head), tuple(row for row in rows if row not in head))]


def _is_rule(text: str) -> bool:
    return (_RULE.match(text) is not None and bool(set(text) & set("-=─"))) or _TEX_RULE.match(text) is not None


def _is_amount(text: str) -> bool:
    return re.fullmatch(r"[~≈]?\s*[\d,._]+\s*(?:[KMBGT%]|GB|MB|万|亿)?", text.strip("*` ")) is not None
