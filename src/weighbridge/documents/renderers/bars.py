"""Bars of stacked amounts as SVG: one scale for all, the amount written after each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weighbridge.documents.document import Bars
from weighbridge.documents.renderers.markup import escape

PALETTE = ("#9cc4ee", "#1763b6", "#a5d8b3", "#f3d08b")
LINE, LABEL, FIGURE = 34, 220, 150


class Stripe(NamedTuple):
    """One piece of a bar: where it begins and ends, as parts of the largest bar, and which of the amounts it is."""

    start: float
    end: float
    kind: int


def stripes(block: Bars) -> list[list[Stripe]]:
    """Lay the bars out.

    >>> stripes(Bars((("a", (1, 1)), ("b", (4, 0))), ("x", "y")))[0]
    [Stripe(start=0.0, end=0.25, kind=0), Stripe(start=0.25, end=0.5, kind=1)]
    """
    most = max((sum(amounts) for _, amounts in block.rows), default=0) or 1
    return [
        [Stripe(sum(amounts[:kind]) / most, sum(amounts[: kind + 1]) / most, kind) for kind in range(len(amounts))]
        for _, amounts in block.rows
    ]


def bars(block: Bars, *, width: int = 900) -> str:
    """Draw the bars with their labels, amounts and legend."""
    height = LINE * (len(block.rows) + 1)
    shapes = "".join(_shapes(block, width))
    name = "; ".join(f"{label}: {sum(amounts):,}" for label, amounts in block.rows)
    return (
        f'<svg class="bars" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}" font-family="system-ui, sans-serif" '
        f'font-size="13" fill="currentColor" xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'
    )


def _shapes(block: Bars, width: int) -> Iterator[str]:
    room = width - LABEL - FIGURE
    for index, ((label, amounts), pieces) in enumerate(zip(block.rows, stripes(block), strict=True)):
        middle = LINE * index + LINE / 2
        yield f'<text x="0" y="{middle:.1f}" dominant-baseline="central">{escape(_shorten(label))}</text>'
        for start, end, kind in pieces:
            title = f"<title>{escape(block.legend[kind])}: {amounts[kind]:,}</title>"
            yield (
                f'<rect x="{LABEL + room * start:.2f}" y="{middle - 9:.1f}" width="{room * (end - start):.2f}" height="18" '
                f'fill="{PALETTE[kind % len(PALETTE)]}">{title}</rect>'
            )
        yield f'<text x="{width}" y="{middle:.1f}" text-anchor="end" dominant-baseline="central">{sum(amounts):,}</text>'
    middle = LINE * len(block.rows) + LINE / 2
    for kind, words in enumerate(block.legend):
        at = LABEL + 170 * kind
        yield f'<rect x="{at}" y="{middle - 6:.1f}" width="12" height="12" fill="{PALETTE[kind % len(PALETTE)]}"></rect>'
        yield f'<text x="{at + 18}" y="{middle:.1f}" dominant-baseline="central">{escape(words)}</text>'


def _shorten(label: str, room: int = 30) -> str:
    return label if len(label) <= room else "…" + label[-room + 1 :]
