"""The first picture of a text as an SVG file of its own."""

from __future__ import annotations

from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Bars, Paper, Picture
from weighbridge.documents.renderers.bars import bars
from weighbridge.documents.renderers.treemap import tiles, treemap


def render(paper: Paper) -> str:
    """Draw the treemap, or the bars, of *paper*."""
    block = picture(paper)
    return (treemap(tiles(block.root)) if isinstance(block, Picture) else bars(block)) + "\n"


def picture(paper: Paper) -> Picture | Bars:
    """Return the first picture of *paper*.

    Raises:
        UsageError: It has none.
    """
    found = next((block for block in paper.blocks if isinstance(block, (Picture, Bars))), None)
    if found is None:
        raise UsageError(f"{paper.title}: there is nothing to draw")
    return found
