"""The table of renderers: each writes a document in one form, to be printed or to be a file."""

from __future__ import annotations

import os
from importlib import import_module

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.documents.document import Document
from weighbridge.documents.renderers.clean import clean

FORMATS = {
    "text": ".txt",
    "terminal": "",
    "markdown": ".md",
    "html": ".html",
    "latex": ".tex",
    "csv": ".csv",
    "json": ".json",
    "xlsx": ".xlsx",
    "svg": ".svg",
    "png": ".png",
}
"""From each form to the ending of its files; the module of the same name has ``render(document, *, width)``."""

SUFFIXES = {suffix: form for form, suffix in FORMATS.items() if suffix}
BINARY = ("xlsx", "png")
WIDTH = 100
"""Columns of a title, a heading and a note where nothing says how many a line has."""


def render(document: Document, form: str = "text", *, width: int = 0) -> str:
    """Write *document* as text in one of :data:`FORMATS`.

    Args:
        width: Columns of a line, for ``text`` and ``terminal``; 0 breaks no line.

    Raises:
        UsageError: There is no such form, or it is for files alone.

    >>> print(render(Document("BertModel", "109,482,240 parameters"), width=40), end="")
    BertModel         109,482,240 parameters
    """
    if form not in FORMATS or form in BINARY:
        raise UsageError(
            Text("no format {form!r}; known: {formats}", form=form, formats=", ".join(name for name in FORMATS if name not in BINARY))
        )
    text: str = import_module(f"weighbridge.documents.renderers.{form}").render(clean(document), width=width)
    return text


def form_of(path: str) -> str:
    """Return the form that a file's ending names, before any work is done.

    Raises:
        UsageError: Its ending is none of :data:`SUFFIXES`.

    >>> form_of("report.tex")
    'latex'
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            Text(
                "{path}: cannot tell the form from {suffix!r}; known: {suffixes}",
                path=path,
                suffix=suffix or "no ending",
                suffixes=", ".join(SUFFIXES),
            )
        )
    return SUFFIXES[suffix]


def write(document: Document, path: str) -> int:
    """Write *document* to a file atomically and return its bytes; the suffix selects the form.

    Raises:
        UsageError: An ending that is not known, or a place that cannot be written.
    """
    made = import_module(f"weighbridge.documents.renderers.{form_of(path)}").render(clean(document))
    return write_bytes(made if isinstance(made, bytes) else made.encode(), path)


def write_bytes(data: bytes, path: str) -> int:
    """Write a file atomically: what stood there stays until all of the new is on disk.

    Raises:
        UsageError: A place that cannot be written.
    """
    from pathlib import Path

    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            part.write_bytes(data)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise UsageError(Text("{path}: cannot be written: {strerror}", path=path, strerror=getattr(error, "strerror", error))) from None
    return len(data)


def write_cell(cell: object) -> str:
    """Write a cell as people read it: thousands separated, a minus sign for a hyphen, nothing for None.

    >>> write_cell(102267648), write_cell(-512), write_cell(None)
    ('102,267,648', '−512', '')
    """
    if cell is None:
        return ""
    return f"{cell:,}".replace("-", "−") if type(cell) is int else str(cell)


def shorten_names(names: tuple[str, ...]) -> list[str]:
    """Leave out, from the second name on, the path that a name shares with the first.

    >>> shorten_names(("layer.self.query", "layer.self.key"))
    ['layer.self.query', 'key']
    """
    if len(names) < 2:
        return list(names)
    pieces = [name.split(".") for name in names]
    common = 0
    while all(len(piece) > common + 1 for piece in pieces) and len({piece[common] for piece in pieces}) == 1:
        common += 1
    return [names[0], *(".".join(piece[common:]) for piece in pieces[1:])]
