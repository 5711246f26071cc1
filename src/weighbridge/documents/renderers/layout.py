"""Lines of fixed width: what plain text and the terminal share. Numbers and words are never broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from operator import le
from typing import NamedTuple, TypeAlias
from unicodedata import combining, east_asian_width

from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Column, Document, Equation, Heading, Item, Paragraph, Printed, Row, Share, Table
from weighbridge.documents.renderers import WIDTH, shorten_names, write_cell

BAR = 12
"""Columns of a bar."""

LEAST = 12
"""Columns to which a column of text is squeezed before its words decide."""

_WIDE = r"\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
_OPEN, _CLOSE = "（「『“《", "，。、；：？！）》」』”％"
_UNITS = re.compile(rf"\s+|\[[\d, ]{{1,28}}\][,;.:]?|[{_OPEN}]*(?![{_OPEN}])[{_WIDE}][{_CLOSE}]*|[{_OPEN}]*[^\s{_WIDE}]+[{_CLOSE}]*|.")
"""What is never broken: a word, a shape in brackets, a Chinese character with the signs about it."""

JOINT = "\ue000"
"""Stands for a space at which no line is broken."""

_FORMULA = re.compile(r"(?:[^\W\d_]\w?[⁰¹²³⁴⁵⁶⁷⁸⁹]*+(?:_\w++)?(?!\w)|\d[\d,]*+[⁰¹²³⁴⁵⁶⁷⁸⁹]*+(?!\w)|[()⌊⌋×+−/ ])++")
"""A closed formula: letters, numbers and signs, no words."""

_SEAMS = re.compile(r"(?<=[^\W\d_])(?=[._/])|(?<=,) ")


class Span(NamedTuple):
    """A piece of a line, and how a terminal sets it: ``strong``, ``quiet``, ``figure``, ``good``, ``bad``, ``mild`` or plain."""

    text: str
    style: str = ""


Line: TypeAlias = list[Span]

FLUSH_RIGHT = frozenset(("integer", "share"))
"""Kinds of columns that are set flush right."""

TALLEST = 3
"""Lines of a cell of text beyond which a table is set in another way."""

SHORT = 32
"""Columns up to which a cell with its title shares a line with others."""

_GAP = Span("  ")
_SEPARATOR = " · "


def lines(document: Document, width: int = 0, *, bars: bool = False) -> Iterator[Line]:
    """Yield the lines of a document.

    Args:
        width: Columns of a line; 0 breaks no row, sentence or equation, for programs that read lines.
        bars: Draw the bars of a table.
    """
    fit, width = width > 0, width or WIDTH
    before: object = None
    if document.title or document.figure:
        yield from _flush_both(document.title, document.figure, width, "strong")
        before = document
    headed = False
    for block in document.printable:
        if _is_apart(before, block):
            yield []
        headed = headed or isinstance(block, Heading)
        yield from _block(block, width, indent=2 * headed, bars=bars, fit=fit)
        before = block


def measure(text: str) -> int:
    """Return the columns that *text* takes: a Chinese character takes two.

    >>> measure("嵌入层")
    6
    """
    if text.isascii():
        return len(text)
    others = [letter for letter in text if letter > "\x7f"]
    return len(text) - len(others) + sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in others)


def pad(text: str, size: int, *, right: bool = False) -> str:
    """Fill *text* up to *size* columns."""
    blank = " " * (size - measure(text))
    return blank + text if right else text + blank


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines between words, or between Chinese characters; no line ends with an opening bracket. Its own line breaks stay.

    >>> wrap("one two three", 8), wrap("嵌入层的参数。", 6)
    (['one two', 'three'], ['嵌入层', '的参', '数。'])
    """
    return [line for own in text.split("\n") for line in _fill(own, max(width, 1))]


def _fill(text: str, width: int) -> list[str]:
    found, line = [], ""
    for unit in _UNITS.findall(text):
        if unit.isspace():
            line += unit if line else ""
        elif line.strip() and measure(line) + measure(unit) > width:
            found.append(line.rstrip())
            line = unit
        else:
            line += unit
    return [*found, line.rstrip()]


def _is_apart(before: object, block: Printed) -> bool:
    """Tell whether an empty line stands between two blocks."""
    if before is None:
        return False
    if isinstance(before, Document) or isinstance(block, Heading):
        return True
    if isinstance(block, Table):
        return not isinstance(before, Heading)
    return isinstance(before, Table) or (isinstance(block, Paragraph) and block.level == 0 and not isinstance(before, Paragraph))


def _flush_both(left: str, right: str, width: int, style: str) -> Iterator[Line]:
    """Set a title flush left and its figure flush right, on two lines where one cannot hold them."""
    gap = width - measure(left) - measure(right)
    if gap >= 2 or not right:
        rows = wrap(left, width) if not right else [left]
        yield from ([Span(row, style)] for row in rows[:-1])
        yield [Span(rows[-1], style), *([Span(" " * gap), Span(right, "figure")] if right else [])]
        return
    inset = " " * (len(left) - len(left.lstrip()))
    rows = [inset + row for row in wrap(left.lstrip(), width - len(inset))]
    yield from ([Span(row, style)] for row in rows[:-1])
    room = width - measure(rows[-1]) - measure(right)
    if room >= 2:
        yield [Span(rows[-1], style), Span(" " * room), Span(right, "figure")]
    else:
        yield [Span(rows[-1], style)]
        yield [Span(" " * max(width - measure(right), 0)), Span(right, "figure")]


def _block(block: Printed, width: int, *, indent: int, bars: bool, fit: bool) -> Iterator[Line]:
    inset = "  " * getattr(block, "level", 0)
    match block:
        case Heading():
            yield from _flush_both("  " * (block.level - 1) + block.text, block.figure, width, "strong")
        case Paragraph():
            style = "quiet" if block.level == 0 else ""
            yield from ([Span(inset + line, style)] for line in _sentences(block, width - len(inset), fit))
        case Item():
            code = ", ".join(shorten_names(block.code))
            yield from _item(inset, block.text, code, width if fit else 0)
        case Equation():
            steps = [write(step, UNICODE) for step in block.steps]
            yield from _equation(inset, block.label, steps, width if fit else 0)
        case _:
            yield from ([Span(" " * indent), *line] for line in table_lines(block, width - indent if fit else 0, bars=bars))


def _sentences(block: Paragraph, width: int, fit: bool) -> list[str]:
    return wrap(block.text, width) if fit or block.level == 0 else block.text.split("\n")


def _item(inset: str, text: str, code: str, width: int) -> Iterator[Line]:
    whole = "  ".join(piece for piece in (text, code) if piece)
    if not width or measure(inset + whole) <= width:
        yield [Span(inset), *([Span(text, "strong")] if text else []), Span(("  " if text and code else "") + code, "quiet")]
        return
    rows = wrap(_bind_operators(text), width - len(inset)) if text else []
    yield from ([Span(inset), Span(row.replace(JOINT, " "), "strong")] for row in rows)
    yield from ([Span(inset + "  " * bool(text)), Span(row, "quiet")] for row in _cell(code, width - len(inset) - 2))


def _equation(inset: str, label: str, steps: list[str], width: int) -> Iterator[Line]:
    """Set a chain on one line; where it does not fit, one step on each, broken before operators."""
    whole = inset + label + " = ".join(steps)
    if not width or measure(whole) <= width:
        yield [Span(inset), Span(label, "quiet"), Span(" = ".join(steps))]
        return
    if label:
        yield from ([Span(inset), Span(row, "quiet")] for row in wrap(label.rstrip(), width - len(inset)))
    for number, step in enumerate(steps):
        sign = "= " if number or label else ""
        rows = _formula_rows(step, width - len(inset) - 4)
        for at, row in enumerate(rows):
            text = row.replace(JOINT, " ")
            yield [Span(inset), Span((sign if at == 0 else " " * len(sign) + "  ") + text, "figure" if number == len(steps) - 1 else "")]


def _formula_rows(text: str, width: int) -> list[str]:
    """Break a formula before operators: outside all brackets, and inside a bracket only where it alone is too wide."""
    pieces = _addends(text, width)
    if any(measure(piece) > width for piece in pieces):
        return _fill(_bind_operators(text), width)
    rows: list[str] = []
    for piece in pieces:
        if rows and measure(rows[-1]) + 1 + measure(piece) <= width:
            rows[-1] += " " + piece
        else:
            rows.append(piece)
    return rows


def _addends(text: str, width: int) -> list[str]:
    """Divide a formula before the operators of its sum; an addend that is too wide is divided inside its widest bracket."""
    cuts, groups = _outermost(text)
    pieces = [text[start : end - 1] for start, end in pairwise([0, *cuts, len(text) + 1])]
    if len(pieces) > 1:
        return [part for piece in pieces for part in ([piece] if measure(piece) <= width else _addends(piece, width))]
    if measure(text) <= width or not groups:
        return [text]
    start, end = max(groups, key=lambda group: group[1] - group[0])
    inside = _addends(text[start + 1 : end], max(width - start - 1, 1))
    inside[0] = text[: start + 1] + inside[0]
    inside[-1] += text[end:]
    return inside


def _outermost(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return where operators of a sum stand outside all brackets, and where the outermost brackets open and close."""
    cuts, groups, opened, level = [], [], 0, 0
    for at, letter in enumerate(text):
        if letter in "(⌊":
            opened = at if level == 0 else opened
            level += 1
        elif letter in ")⌋":
            level -= 1
            groups += [(opened, at)] if level == 0 else []
        elif level == 0 and letter in "+−" and at and text[at - 1] == " " == text[at + 1 : at + 2]:
            cuts.append(at)
    return cuts, groups


def table_lines(table: Table, width: int = 0, *, bars: bool = False) -> Iterator[Line]:
    """Lay one table out: numbers and shares flush right; texts broken where the table is wider than *width* (0 is never)."""
    shown = table.visible_columns("bar") if bars else table.visible_columns()
    if width:
        shown = [i for i in shown if any(write_cell(row.cells[i]) for row in table.rows)] or shown
    columns = [table.columns[i] for i in shown]
    kinds = [(i, column.kind) for i, column in zip(shown, columns, strict=True)]
    grid = [[_text(row, i, kind) for i, kind in kinds] for row in table.rows]
    head = [[column.title for column in columns]] if table.headed else []
    sizes = [_broadest([line[at] for line in (*head, *grid)]) for at in range(len(columns))]
    if width:
        sizes = _squeeze(sizes, columns, [*head, *grid], width)
        if not _fits(sizes, width) and bars and any(column.kind == "bar" for column in columns):
            yield from table_lines(table, width)
            return
    if table.title:
        yield from ([Span(row, "strong")] for row in (wrap(table.title, width) if width else [table.title]))
    if width and (not _fits(sizes, width) or _is_tall(table, columns, grid, sizes)):
        yield from (_outline if _is_tree(table) else _records)(table, columns, grid, width)
        return
    for cells in head:
        yield from _row(cells, columns, sizes, Row(()), "quiet")
    for row, cells in zip(table.rows, grid, strict=True):
        yield from _row(cells, columns, sizes, row, "")


def _broadest(cells: list[str]) -> int:
    """Return the columns that the broadest of some cells takes."""
    if all(map(str.isascii, cells)):
        return max(map(len, cells), default=0)
    return max(map(measure, cells))


def _fits(sizes: list[int], width: int) -> bool:
    return sum(sizes) + 2 * (len(sizes) - 1) <= width


def _is_tall(table: Table, columns: list[Column], grid: list[list[str]], sizes: list[int]) -> bool:
    """Tell whether a column of text has become so narrow that its cells are read as columns of a newspaper."""
    texts = [at for at, column in enumerate(columns) if column.kind not in FLUSH_RIGHT and column.kind != "bar"]
    most = [TALLEST - (at == 0 and _is_tree(table)) for at in range(len(columns))]
    return len(table.rows) > 1 and any(
        measure(row[at]) > (most[at] - 1) * sizes[at] and len(_cell(row[at], sizes[at])) > most[at] for row in grid for at in texts
    )


def _is_tree(table: Table) -> bool:
    """Tell whether indentation says something in a table."""
    return not table.headed or any(row.depth for row in table.rows)


def _outline(table: Table, columns: list[Column], grid: list[list[str]], width: int) -> Iterator[Line]:
    """Set a tree that no squeezing fits: names and figures in columns, and what else is said of a row on a line below its name."""
    figures = [at for at, column in enumerate(columns) if at and column.kind in FLUSH_RIGHT]
    others = [at for at, column in enumerate(columns) if at and column.kind not in (*FLUSH_RIGHT, "bar")]
    head = [[column.title for column in columns]] if table.headed else []
    sizes = [_least([*head, *grid], at, columns[at], 0) for at in figures]
    room = width - sum(sizes) - 2 * len(sizes)
    if room < LEAST or columns[0].kind in FLUSH_RIGHT:
        yield from _records(table, columns, grid, width)
        return
    shown, sizes = [columns[at] for at in (0, *figures)], [min(room, _broadest([row[0] for row in grid])), *sizes]
    for cells in head:
        yield from _row([cells[at] for at in (0, *figures)], shown, sizes, Row(()), "quiet")
    for row, cells in zip(table.rows, grid, strict=True):
        yield from _row([cells[at] for at in (0, *figures)], shown, sizes, row, "")
        below = "  ".join(cells[at].strip() for at in others if cells[at].strip())
        inset = "  " * row.depth + "    "
        yield from ([Span(inset + text, "quiet")] for text in (_cell(below, width - len(inset)) if below else ()))


def _records(table: Table, columns: list[Column], grid: list[list[str]], width: int) -> Iterator[Line]:
    """Set a table that no squeezing fits as one entry after another: the first cell, and below it the others with their titles."""
    for row, cells in zip(table.rows, grid, strict=True):
        inset = " " * (len(cells[0]) - len(cells[0].lstrip()))
        first = _with_title(columns[0], cells[0]) if table.headed and columns[0].kind in FLUSH_RIGHT else cells[0]
        yield from ([Span(text, _style(row, columns[0].kind) or "strong")] for text in _cell(first, width))
        room = max(width - len(inset) - 4, 1)
        style = _style(row, "text")
        short: list[str] = []
        for column, cell in zip(columns[1:], cells[1:], strict=True):
            text = _with_title(column, cell.strip()) if table.headed else cell.strip()
            if not cell.strip() or column.kind == "bar":
                continue
            joined = _SEPARATOR.join((*short, text))
            if measure(text) <= SHORT and measure(joined) <= room:
                short.append(text)
                continue
            if short:
                yield [Span(f"{inset}  {_SEPARATOR.join(short)}", style)]
            short = [text] if measure(text) <= min(SHORT, room) else []
            if not short:
                yield from ([Span(f"{inset}  {'  ' * (number > 0)}{line}", style)] for number, line in enumerate(_cell(text, room)))
        if short:
            yield [Span(f"{inset}  {_SEPARATOR.join(short)}", style)]


def _with_title(column: Column, cell: str) -> str:
    """Put a column's title before a cell."""
    return (f"{column.title}: {cell}" if column.title.isascii() else f"{column.title}：{cell}") if column.title else cell


def _text(row: Row, index: int, kind: str) -> str:
    if kind == "bar":
        return bar(row.cells[index])
    text = write_cell(row.cells[index])
    return "  " * row.depth + text if index == 0 and row.depth else text


def _row(cells: list[str], columns: list[Column], sizes: list[int], row: Row, style: str) -> Iterator[Line]:
    """Set one row, on as many lines as its tallest cell takes."""
    lengths = [len(cell) if cell.isascii() else measure(cell) for cell in cells]
    if all(map(le, lengths, sizes)):
        line: Line = []
        for cell, length, size, (_, kind) in zip(cells, lengths, sizes, columns, strict=True):
            blank = " " * (size - length)
            line += (_GAP, Span(blank + cell if kind in FLUSH_RIGHT else cell + blank, style or _style(row, kind)))
        yield line[1:]
        return
    flush = [column.kind in FLUSH_RIGHT for column in columns]
    blocks = [_cell(cell, size) if length > size else [cell] for cell, length, size in zip(cells, lengths, sizes, strict=True)]
    for number in range(max(map(len, blocks), default=0)):
        line = []
        for at, (block, size) in enumerate(zip(blocks, sizes, strict=True)):
            text = pad(block[number] if number < len(block) else "", size, right=flush[at])
            line += [_GAP] * bool(at) + [Span(text, style or _style(row, columns[at].kind))]
        yield line


def _style(row: Row, kind: str) -> str:
    if kind in ("bar", "share"):
        return "figure" if kind == "bar" else "quiet"
    return row.tone or ("strong" if row.strong else "")


def _bind_operators(text: str, *, tight: bool = False) -> str:
    """Tie each operator to what follows it, so that no line ends in one; *tight* ties the factors of a product to each other too."""
    if tight:
        text = text.replace(" × ", f"{JOINT}×{JOINT}").replace(" / ", f"{JOINT}/{JOINT}")
    return re.sub(r" ([+−×/·=-]) ", rf" \1{JOINT}", text)


def _cell(text: str, width: int) -> list[str]:
    """Break a cell between words; a word wider than *width* at the seams of a dotted name. Indentation is kept."""
    inset = " " * (len(text) - len(text.lstrip()))
    room = max(width - len(inset), 1)
    if " + " in text and _FORMULA.fullmatch(text):
        return [inset + row.replace(JOINT, " ") for row in _formula_rows(text.lstrip(), room)]
    for tight in (True, False):
        rows = [row.replace(JOINT, " ") for row in wrap(_bind_operators(text.lstrip(), tight=tight), room)]
        if all(measure(row) <= room for row in rows):
            break
    else:
        pieces = _fill(_SEAMS.sub(lambda seam: seam[0] + " \u2060", text.lstrip()), room)
        rows = [row.replace(" \u2060", "").replace("\u2060", "") for row in pieces]
    return [inset + row for row in rows]


def _squeeze(sizes: list[int], columns: list[Column], grid: list[list[str]], width: int) -> list[int]:
    """Narrow the columns, the widest first, until the table fits: titles first, then texts down to their words, then to the seams of their names."""
    if _fits(sizes, width):
        return sizes
    sizes = list(sizes)
    for texts, seams in ((False, False), (True, False), (True, True)):
        least = [
            _least(grid, at, column, size)
            if not texts or column.kind in ("integer", "share", "bar", "letter")
            else min(size, max(LEAST, _widest(grid, at, seams=seams)))
            for at, (size, column) in enumerate(zip(sizes, columns, strict=True))
        ]
        while not _fits(sizes, width):
            at = max(range(len(sizes)), key=lambda i: (sizes[i] > least[i], sizes[i]))
            if sizes[at] <= least[at]:
                break
            sizes[at] -= 1
    return sizes


def _least(grid: list[list[str]], at: int, column: Column, size: int) -> int:
    """Return how far a column of numbers can be narrowed: a number is never broken, the words of its title may be."""
    return max((measure(row[at]) if row[at] != column.title else _least_title(column.title) for row in grid), default=size)


def _least_title(title: str) -> int:
    """Return how narrow a title can stand: in Chinese, which breaks anywhere, up to four characters on a line, longer ones on two lines."""
    whole = measure(title)
    least = 0 if title.isascii() else whole if whole <= 8 else -(-whole // 4) * 2
    return max(least, _widest([[title]], 0, seams=False))


def _widest(grid: list[list[str]], at: int, *, seams: bool) -> int:
    """Return the widest piece of a column that is not broken, with its indentation."""
    return max((measure(piece) for row in grid for piece in _pieces(row[at], seams=seams)), default=0)


def _pieces(text: str, *, seams: bool) -> list[str]:
    inset, bare = " " * (len(text) - len(text.lstrip())), _bind_operators(text.lstrip())
    return [
        inset + piece for piece in _UNITS.findall(_SEAMS.sub(lambda seam: seam[0] + " ", bare) if seams else bare) if not piece.isspace()
    ]


def bar(cell: object) -> str:
    """Draw a share as a bar of up to twelve characters, an eighth of one at the finest.

    >>> bar(Share(500)), bar(None)
    ('██████', '')
    """
    if not isinstance(cell, Share):
        return ""
    eighths = cell.per_mille * BAR * 8 // 1000
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
