"""The first picture of a text as a PNG file, drawn by matplotlib."""

from __future__ import annotations

from io import BytesIO

from weighbridge.documents.document import Paper
from weighbridge.documents.renderers.chart import figure
from weighbridge.documents.renderers.papers.svg import picture


def render(paper: Paper) -> bytes:
    """Draw the treemap, or the bars, of *paper*.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    out = BytesIO()
    figure(picture(paper)).savefig(out, format="png", dpi=160)
    return out.getvalue()
