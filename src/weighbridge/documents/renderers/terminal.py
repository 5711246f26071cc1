"""For a terminal: the lines of the plain text, with colour and small bars."""

from __future__ import annotations

from weighbridge.documents.document import Document
from weighbridge.documents.renderers.layout import lines
from weighbridge.documents.renderers.table_layout import Line

STYLES = {"strong": "1", "quiet": "2", "figure": "36", "good": "32", "bad": "1;31", "mild": "33"}
"""Select Graphic Rendition of ECMA-48: bold, faint, cyan, green, bold red, yellow."""


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* with colours and bars, as ANSI text.

    >>> render(Document("BertModel"))
    '\\x1b[1mBertModel\\x1b[0m\\n'
    """
    return "".join(
        "".join(_paint(span.text, STYLES.get(span.style, "")) for span in _strip_end(line)) + "\n"
        for line in lines(document, width, bars=True)
    )


def _strip_end(line: Line) -> Line:
    """Leave out the blanks at the end of a line, which would be copied with it."""
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    return [*kept[:-1], kept[-1]._replace(text=kept[-1].text.rstrip())] if kept else []


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() else text
