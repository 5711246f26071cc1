"""A text written to a file, in the form that the file's name asks for; never half of it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Paper

SUFFIXES = {
    ".html": "html", ".md": "markdown", ".tex": "latex", ".txt": "text", ".xlsx": "excel", ".svg": "svg", ".png": "png",
}  # fmt: skip
"""From a file's ending to the renderer in ``renderers.papers``."""


def check(name: str) -> str:
    """Return the renderer for a file's name, before any work is done.

    Raises:
        UsageError: Its ending is none of :data:`SUFFIXES`.

    >>> check("report.tex")
    'latex'
    """
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{name}: cannot tell the form from {suffix or 'no ending'!r}; known: {', '.join(SUFFIXES)}")
    return SUFFIXES[suffix]


def write(paper: Paper, name: str) -> int:
    """Write *paper* to a file and return its bytes; what stood there stays until all of the new is on disk.

    Raises:
        UsageError: An ending that is not known, or a place that cannot be written.
    """
    made = import_module(f"weighbridge.documents.renderers.papers.{check(name)}").render(paper)
    data = made if isinstance(made, bytes) else made.encode()
    path = Path(name)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{name}: cannot be written: {error.strerror}") from None
    return len(data)
