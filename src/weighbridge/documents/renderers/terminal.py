"""For a terminal: the rows of the plain text, with colour and small bars, drawn by rich."""

from __future__ import annotations

from weighbridge.documents.document import Report, Share, Table
from weighbridge.documents.renderers import written

BAR = 12


def render(report: Report, *, width: int = 100) -> str:
    """Draw *report* with colours and bars, as ANSI text."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), width=width, force_terminal=True, highlight=False, emoji=False, markup=False)
    headline = Text(report.headline, style="bold")
    gap = max(width - headline.cell_len - Text(report.figure).cell_len, 2)
    with console.capture() as capture:
        console.print(headline + Text(" " * gap) + Text(report.figure, style="bold cyan"), soft_wrap=True)
        for table in report.tables:
            console.print()
            _draw(console, table)
        if report.notes:
            console.print()
        for note in report.notes:
            console.print(Text(note, style="dim"))
    return capture.get()


def _draw(console: object, table: Table) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    assert isinstance(console, Console)
    grid = Grid(
        title=table.title or None, title_justify="left", box=SIMPLE_HEAD if table.headed else None, show_header=table.headed,
        header_style="dim", pad_edge=False, padding=(0, 1), show_edge=False,
    )  # fmt: skip
    kept = table.shown("bar")
    for column in (table.columns[i] for i in kept):
        grid.add_column(column.title, justify="right" if column.kind in ("integer", "share") else "left", overflow="fold")
    for row in table.rows:
        cells = []
        for index in kept:
            column, cell = table.columns[index], row.cells[index]
            text = bar(cell) if column.kind == "bar" else ("  " * row.depth if index == 0 else "") + written(cell)
            style = "cyan" if column.kind == "bar" else "bold" if row.strong else "dim" if column.kind == "share" else ""
            cells.append(Text(text, style=style))
        grid.add_row(*cells)
    console.print(grid)


def bar(cell: object) -> str:
    """Draw a share as a bar of up to twelve characters, an eighth of one at the finest.

    >>> bar(Share(500)), bar(None)
    ('██████', '')
    """
    if not isinstance(cell, Share):
        return ""
    eighths = cell.per_mille * BAR * 8 // 1000
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
