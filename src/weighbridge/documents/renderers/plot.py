"""Points and curves as SVG: two axes from zero, round numbers at the ticks, every value in a title."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weighbridge.documents.document import Plot
from weighbridge.documents.renderers.markup import escape

COLOURS = ("#1763b6", "#b65a17", "#2b8a4b", "#7a3fb0")
LEFT, RIGHT, TOP, BOTTOM = 78, 16, 34, 46
UNITS = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


class Axis(NamedTuple):
    """One axis: where its ticks are; the last is its end."""

    ticks: tuple[int, ...]

    def place(self, value: int) -> float:
        """Return where a value stands, from 0 to 1."""
        return value / self.ticks[-1]


def axis(values: list[int]) -> Axis:
    """Choose ticks from zero to beyond the largest value, at steps of 1, 2 or 5 times a power of ten.

    >>> axis([3, 86]).ticks
    (0, 20, 40, 60, 80, 100)
    """
    most = max(values, default=1) or 1
    step = next(step for power in range(40) for step in (10**power, 2 * 10**power, 5 * 10**power) if most <= 6 * step)
    return Axis(tuple(range(0, most + step, step)))


def tick_label(value: int) -> str:
    """Write a tick in few letters.

    >>> tick_label(0), tick_label(1500), tick_label(20_000_000)
    ('0', '1.5k', '20M')
    """
    unit, letter = next(((unit, letter) for unit, letter in UNITS if value >= unit), (1, ""))
    return f"{value / unit:g}{letter}"


def plot(block: Plot, *, width: int = 680, height: int = 380) -> str:
    """Draw the series of a plot in one picture with a legend."""
    shapes = "".join(_shapes(block, width, height))
    name = f"{block.titles[1]}; {block.titles[0]}"
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="currentColor" xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'
    )


def _shapes(block: Plot, width: int, height: int) -> Iterator[str]:
    across = axis([x for _, points in block.series for x, _ in points])
    up = axis([y for _, points in block.series for _, y in points])
    wide, high = width - LEFT - RIGHT, height - TOP - BOTTOM
    for tick in across.ticks:
        x = LEFT + wide * across.place(tick)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + high}" stroke="currentColor" stroke-opacity=".12"></line>'
        yield f'<text x="{x:.1f}" y="{TOP + high + 16}" text-anchor="middle">{tick_label(tick)}</text>'
    for tick in up.ticks:
        y = TOP + high * (1 - up.place(tick))
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + wide}" y2="{y:.1f}" stroke="currentColor" stroke-opacity=".12"></line>'
        yield f'<text x="{LEFT - 8}" y="{y:.1f}" text-anchor="end" dominant-baseline="central">{tick_label(tick)}</text>'
    yield f'<text x="{LEFT + wide / 2:.1f}" y="{height - 8}" text-anchor="middle">{escape(block.titles[0])}</text>'
    yield f'<text x="4" y="14">{escape(block.titles[1])}</text>'
    for number, (label, points) in enumerate(block.series):
        colour = COLOURS[number % len(COLOURS)]
        placed = [(LEFT + wide * across.place(x), TOP + high * (1 - up.place(y))) for x, y in points]
        if block.joined and len(placed) > 1:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"></polyline>'
        for (x, y), (own_x, own_y) in zip(placed, points, strict=True):
            title = f"<title>{escape(label)}: {own_x:,}; {own_y:,}</title>"
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.5 if block.joined else 4}" fill="{colour}">{title}</circle>'
        at = width - RIGHT - 200 * (len(block.series) - number) + 40
        if len(block.series) > 1:
            yield f'<circle cx="{at}" cy="10" r="4" fill="{colour}"></circle><text x="{at + 10}" y="14">{escape(label)}</text>'
