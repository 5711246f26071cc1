"""The first picture of a document as an SVG file of its own."""

from __future__ import annotations

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.documents.document import Bars, Document, Drawn, Picture, Plot
from weighbridge.documents.renderers.bars import bars
from weighbridge.documents.renderers.plot import plot
from weighbridge.documents.renderers.treemap import tiles, treemap


def render(document: Document, *, width: int = 0) -> str:
    """Draw the treemap, the bars, or the curves of *document*."""
    block = picture(document)
    if isinstance(block, Picture):
        return treemap(tiles(block.root)) + "\n"
    return (plot(block) if isinstance(block, Plot) else bars(block)) + "\n"


def picture(document: Document) -> Drawn:
    """Return the first picture of *document*.

    Raises:
        UsageError: It has none.
    """
    found = next((block for block in document.blocks if isinstance(block, (Picture, Bars, Plot))), None)
    if found is None:
        raise UsageError(Text("{title}: there is nothing to draw", title=document.title))
    return found
