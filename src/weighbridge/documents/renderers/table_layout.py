"""Tables in lines of fixed width: as columns, squeezed, or one entry after another where no squeezing fits."""

from __future__ import annotations

from collections.abc import Iterator
from operator import le
from typing import NamedTuple, TypeAlias

from weighbridge.documents.document import Column, Row, Share, Table
from weighbridge.documents.renderers import write_cell
from weighbridge.documents.renderers.wrapping import SEAMS, UNITS, bind_operators, break_cell, measure, pad, wrap

BAR = 12
"""Columns of a bar."""

LEAST = 12
"""Columns to which a column of text is squeezed before its words decide."""


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


def table_lines(table: Table, width: int = 0, *, bars: bool = False) -> Iterator[Line]:
    """Lay one table out: numbers and shares flush right; texts broken where the table is wider than *width* (0 is never)."""
    shown = table.visible_columns("bar") if bars else table.visible_columns()
    if width:
        shown = [i for i in shown if any(write_cell(row.cells[i]) for row in table.rows)] or shown
    columns = [table.columns[i] for i in shown]
    kinds = [(i, column.kind) for i, column in zip(shown, columns, strict=True)]
    grid = [[_text(row, i, kind) for i, kind in kinds] for row in table.rows]
    head = [[column.title for column in columns]] if table.headed else []
    sizes = [_widest_columns([line[at] for line in (*head, *grid)]) for at in range(len(columns))]
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
    if not width and not bars:
        yield from ([Span(text)] for text in _plain_rows([*head, *grid], columns, sizes))
        return
    for cells in head:
        yield from _row(cells, columns, sizes, Row(()), "quiet")
    for row, cells in zip(table.rows, grid, strict=True):
        yield from _row(cells, columns, sizes, row, "")


def _plain_rows(grid: list[list[str]], columns: list[Column], sizes: list[int]) -> Iterator[str]:
    """Set rows that need not be broken as text without styles, column by column: a table may have a hundred thousand."""
    padded = []
    for at, (size, column) in enumerate(zip(sizes, columns, strict=True)):
        cells, flush = [row[at] for row in grid], column.kind in FLUSH_RIGHT
        if all(map(str.isascii, cells)):
            padded.append([cell.rjust(size) for cell in cells] if flush else [cell.ljust(size) for cell in cells])
        else:
            padded.append([pad(cell, size, right=flush) for cell in cells])
    return map("  ".join, zip(*padded, strict=True))


def _widest_columns(cells: list[str]) -> int:
    """Return the columns that the broadest of some cells takes."""
    if all(map(str.isascii, cells)):
        return max(map(len, cells), default=0)
    return max(map(measure, cells))


def _fits(sizes: list[int], width: int) -> bool:
    return sum(sizes) + 2 * (len(sizes) - 1) <= width


def _is_tall(table: Table, columns: list[Column], grid: list[list[str]], sizes: list[int]) -> bool:
    """Tell whether a text column has become so narrow that its cells run over too many lines."""
    texts = [at for at, column in enumerate(columns) if column.kind not in FLUSH_RIGHT and column.kind != "bar"]
    most = [TALLEST - (at == 0 and _is_tree(table)) for at in range(len(columns))]
    return any(
        measure(row[at]) > (most[at] - 1) * sizes[at] and len(break_cell(row[at], sizes[at])) > most[at] for row in grid for at in texts
    )


def _is_tree(table: Table) -> bool:
    """Tell whether indentation says something in a table."""
    return not table.headed or any(row.depth for row in table.rows)


def _outline(table: Table, columns: list[Column], grid: list[list[str]], width: int) -> Iterator[Line]:
    """Set a tree that no squeezing fits: names and figures in columns, and what else is said of a row on a line below its name."""
    figures = [at for at, column in enumerate(columns) if at and column.kind in FLUSH_RIGHT]
    others = [at for at, column in enumerate(columns) if at and column.kind not in (*FLUSH_RIGHT, "bar")]
    head = [[column.title for column in columns]] if table.headed else []
    for cells in head:
        cells[0] = _SEPARATOR.join(filter(None, (cells[at] for at in (0, *others))))
    sizes = [_least_width([*head, *grid], at, columns[at], 0) for at in figures]
    room = width - sum(sizes) - 2 * len(sizes)
    if room < LEAST or columns[0].kind in FLUSH_RIGHT:
        yield from _records(table, columns, grid, width)
        return
    shown, sizes = [columns[at] for at in (0, *figures)], [min(room, _widest_columns([row[0] for row in grid])), *sizes]
    for cells in head:
        yield from _row([cells[at] for at in (0, *figures)], shown, sizes, Row(()), "quiet")
    for row, cells in zip(table.rows, grid, strict=True):
        yield from _row([cells[at] for at in (0, *figures)], shown, sizes, row, "")
        below = "  ".join(cells[at].strip() for at in others if cells[at].strip())
        inset = "  " * row.depth + "    "
        yield from ([Span(inset + text, "quiet")] for text in (break_cell(below, width - len(inset)) if below else ()))


def _records(table: Table, columns: list[Column], grid: list[list[str]], width: int) -> Iterator[Line]:
    """Set a table that no squeezing fits as one entry after another: the first cell and its figures, and below them the others with their titles."""
    beside = _find_figures_beside(table, columns, grid, width)
    shown = [columns[at] for at in (0, *beside)]
    sizes = [_least_width([[column.title for column in columns], *grid], at, columns[at], 0) for at in beside]
    sizes = [width - sum(sizes) - 2 * len(sizes), *sizes]
    if beside:
        yield from _row([column.title for column in shown], shown, sizes, Row(()), "quiet")
    for row, cells in zip(table.rows, grid, strict=True):
        inset = " " * (len(cells[0]) - len(cells[0].lstrip()))
        first = _with_title(columns[0], cells[0]) if table.headed and columns[0].kind in FLUSH_RIGHT else cells[0]
        if beside:
            yield from _row([cells[at] for at in (0, *beside)], shown, sizes, row, _style(row, columns[0].kind) or "strong")
        else:
            yield from ([Span(text, _style(row, columns[0].kind) or "strong")] for text in break_cell(first, width))
        room = max(width - len(inset) - 4, 1)
        style = _style(row, "text")
        short: list[str] = []
        for at, (column, cell) in enumerate(zip(columns, cells, strict=True)):
            if not at or at in beside:
                continue
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
                yield from ([Span(f"{inset}  {'  ' * (number > 0)}{line}", style)] for number, line in enumerate(break_cell(text, room)))
        if short:
            yield [Span(f"{inset}  {_SEPARATOR.join(short)}", style)]


def _find_figures_beside(table: Table, columns: list[Column], grid: list[list[str]], width: int) -> list[int]:
    """Return the columns of figures that stand beside the names of entries: the first ones, as many as leave the names room."""
    if not table.headed or columns[0].kind in FLUSH_RIGHT:
        return []
    figures = [at for at, column in enumerate(columns) if at and column.kind in FLUSH_RIGHT]
    head = [column.title for column in columns]
    widest = _widest_columns([row[0] for row in grid])
    room = width - (widest if widest <= min(width // 2, 24) else max(width // 3, LEAST))  # short names stay whole
    found: list[int] = []
    for at in figures:
        room -= _least_width([head, *grid], at, columns[at], 0) + 2
        if room < 0:
            break
        found.append(at)
    return found


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
    blocks = [break_cell(cell, size) if length > size else [cell] for cell, length, size in zip(cells, lengths, sizes, strict=True)]
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


def _squeeze(sizes: list[int], columns: list[Column], grid: list[list[str]], width: int) -> list[int]:
    """Narrow the columns, the widest first, until the table fits: titles first, then texts down to their words, then to the seams of their names."""
    if _fits(sizes, width):
        return sizes
    sizes = list(sizes)
    for texts, seams in ((False, False), (True, False), (True, True)):
        least = [
            _least_width(grid, at, column, size)
            if not texts or column.kind in ("integer", "share", "bar", "letter")
            else min(size, max(LEAST, _widest_piece(grid, at, seams=seams)))
            for at, (size, column) in enumerate(zip(sizes, columns, strict=True))
        ]
        while not _fits(sizes, width):
            at = max(range(len(sizes)), key=lambda i: (sizes[i] > least[i], sizes[i]))
            if sizes[at] <= least[at]:
                break
            sizes[at] -= 1
    return sizes


def _least_width(grid: list[list[str]], at: int, column: Column, size: int) -> int:
    """Return how far a column of numbers can be narrowed: a number is never broken, the words of its title may be."""
    return max((measure(row[at]) if row[at] != column.title else _least_title(column.title) for row in grid), default=size)


def _least_title(title: str) -> int:
    """Return how narrow a title can stand: in Chinese, which breaks anywhere, up to five characters on a line, longer ones on two lines."""
    whole = measure(title)
    least = 0 if title.isascii() else whole if whole <= 10 else -(-whole // 4) * 2
    return max(least, _widest_piece([[title]], 0, seams=False))


def _widest_piece(grid: list[list[str]], at: int, *, seams: bool) -> int:
    """Return the widest piece of a column that is not broken, with its indentation."""
    return max((measure(piece) for row in grid for piece in _pieces(row[at], seams=seams)), default=0)


def _pieces(text: str, *, seams: bool) -> list[str]:
    inset, bare = " " * (len(text) - len(text.lstrip())), bind_operators(text.lstrip(), tight=True)
    return [inset + piece for piece in UNITS.findall(SEAMS.sub(lambda seam: seam[0] + " ", bare) if seams else bare) if not piece.isspace()]


def bar(cell: object) -> str:
    """Draw a share as a bar of up to twelve characters, an eighth of one at the finest.

    >>> bar(Share(500)), bar(None)
    ('██████', '')
    """
    if not isinstance(cell, Share):
        return ""
    eighths = cell.per_mille * BAR * 8 // 1000
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
