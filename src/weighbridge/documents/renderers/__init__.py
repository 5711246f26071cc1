"""The table of renderers: each turns a report into text of one kind."""

from __future__ import annotations

from importlib import import_module

from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Report

FORMATS = ("text", "terminal", "markdown", "csv", "html")


def render(report: Report, form: str = "text", *, width: int = 100) -> str:
    """Draw *report* in one of :data:`FORMATS`.

    >>> print(render(Report("BertModel", "109,482,240 parameters"), width=40), end="")
    BertModel         109,482,240 parameters
    """
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}; known: {', '.join(FORMATS)}")
    text: str = import_module(f"weighbridge.documents.renderers.{form}").render(report, width=width)
    return text


def written(cell: object) -> str:
    """Write a cell as people read it: thousands separated, nothing for None.

    >>> written(102267648), written(None)
    ('102,267,648', '')
    """
    if cell is None:
        return ""
    return f"{cell:,}" if type(cell) is int else str(cell)
