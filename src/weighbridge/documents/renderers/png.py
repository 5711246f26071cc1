"""The first picture of a document as a PNG file, drawn by matplotlib."""

from __future__ import annotations

from io import BytesIO

from weighbridge.documents.document import Document
from weighbridge.documents.renderers.chart import figure
from weighbridge.documents.renderers.svg import picture


def render(document: Document, *, width: int = 0) -> bytes:
    """Draw the treemap, or the bars, of *document*.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    out = BytesIO()
    figure(picture(document)).savefig(out, format="png", dpi=160)
    return out.getvalue()
