"""For a terminal: the lines of the plain text, with colour and small bars."""

from __future__ import annotations

from weighbridge.documents.document import Document
from weighbridge.documents.renderers.layout import lines

STYLES = {"strong": "1", "quiet": "2", "figure": "36", "good": "32", "bad": "1;31", "mild": "33"}
"""Select Graphic Rendition of ECMA-48: bold, faint, cyan, green, bold red, yellow."""


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* with colours and bars, as ANSI text.

    >>> render(Document("BertModel"))
    '\\x1b[1mBertModel\\x1b[0m\\n'
    """
    return "".join(
        "".join(_paint(span.text, STYLES.get(span.style, "")) for span in line).rstrip() + "\n"
        for line in lines(document, width, bars=True)
    )


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() else text
