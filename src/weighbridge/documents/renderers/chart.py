"""Treemap, bars and curves as a matplotlib figure, from the same layout as the SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Bars, Drawn, Picture, Plot
from weighbridge.documents.renderers.bars import PALETTE as STRIPES
from weighbridge.documents.renderers.bars import stripes
from weighbridge.documents.renderers.plot import COLOURS
from weighbridge.documents.renderers.treemap import Box, place_tiles, shorten_label, tiles
from weighbridge.documents.roles import ROLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 80
"""Units of the picture in an inch."""


def figure(block: Drawn) -> Figure:
    """Draw a picture; nothing global of matplotlib is touched, and no window is opened.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("a picture needs the extra charts: pip install 'weighbridge[charts]'") from None
    if isinstance(block, Plot):
        return _plot(Figure(figsize=(8.5, 4.75)), block)
    width, height = (960, 420) if isinstance(block, Picture) else (960, 60 + 40 * len(block.rows))
    drawn = Figure(figsize=(width / POINTS, height / POINTS))
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    _treemap(axes, block, Box(4, 4, width - 8, height - 8)) if isinstance(block, Picture) else _bars(axes, block, width)
    return drawn


def _plot(drawn: Figure, block: Plot) -> Figure:
    axes: Any = drawn.add_subplot()
    for number, (label, points) in enumerate(block.series):
        style = {"color": COLOURS[number % len(COLOURS)], "marker": "o", "markersize": 4, "linestyle": "-" if block.joined else "none"}
        axes.plot([x for x, _ in points], [y for _, y in points], label=label, **style)
    axes.set_xlabel(block.titles[0], parse_math=False)
    axes.set_ylabel(block.titles[1], parse_math=False)
    axes.set_ylim(bottom=0)
    if len(block.series) > 1:
        axes.legend()
    return drawn


def _treemap(axes: Any, block: Picture, box: Box) -> None:
    from matplotlib.patches import Rectangle

    for tile, place in place_tiles(tiles(block.root), box):
        size = max(place.width, 0), max(place.height, 0)
        axes.add_patch(Rectangle((place.x, place.y), *size, facecolor=ROLES[tile.role][1], edgecolor="white", linewidth=0.8))
        text = shorten_label(tile.label, place.width)
        if text and place.height > 14:
            axes.text(place.x + 4, place.y + 3, text, fontsize=8, va="top", color="#10151a", parse_math=False)


def _bars(axes: Any, block: Bars, width: int) -> None:
    room = width - 400
    for index, ((label, amounts), pieces) in enumerate(zip(block.rows, stripes(block), strict=True)):
        middle = 30 + 40 * index
        axes.text(10, middle, label[-34:], fontsize=9, va="center", parse_math=False)
        for start, end, kind in pieces:
            axes.barh(middle, room * (end - start), left=240 + room * start, height=20, color=STRIPES[kind % len(STRIPES)])
        axes.text(width - 10, middle, f"{sum(amounts):,}", fontsize=9, va="center", ha="right")
    middle = 30 + 40 * len(block.rows)
    for kind, words in enumerate(block.legend):
        axes.barh(middle, 12, left=240 + 170 * kind, height=12, color=STRIPES[kind % len(STRIPES)])
        axes.text(260 + 170 * kind, middle, words, fontsize=9, va="center")
