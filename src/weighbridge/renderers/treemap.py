"""Treemap and sunburst of a ledger as SVG: areas and angles are the amounts, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import cos, pi, sin
from typing import NamedTuple

from weighbridge.accounts.ledger import Entry

TONES = 6


class Tile(NamedTuple):
    """One module in the picture: its dotted path, amount, depth, and the tone of its branch."""

    path: str
    label: str
    amount: int
    depth: int
    tone: int
    copies: int
    children: tuple[Tile, ...]


class Box(NamedTuple):
    """A rectangle, in units of the picture."""

    x: float
    y: float
    width: float
    height: float


def tiles(entry: Entry, path: str = "", *, depth: int = 0, tone: int = 0) -> Tile:
    """Turn a ledger into tiles, largest first; what holds nothing is left out."""
    assert isinstance(entry.amount, int)
    kept = [child for child in entry.children if isinstance(child.amount, int) and child.amount]
    copies = entry.times if isinstance(entry.times, int) else 1
    inside = [
        tiles(
            child,
            f"{path}.{child.name}" if path and child.name else path or child.name,
            depth=depth + 1,
            tone=index if depth == 0 else tone,
        )
        for index, child in enumerate(kept)
    ]
    label = entry.name + (f" × {copies}" if copies != 1 else "")
    return Tile(path, label, entry.amount, depth, tone, copies, tuple(sorted(inside, key=lambda tile: -tile.amount * tile.copies)))


def squarified(amounts: list[int], box: Box) -> list[Box]:
    """Lay out *amounts*, largest first, as rectangles near to squares that fill *box*.

    Source: Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000).

    >>> [round(b.width * b.height) for b in squarified([6, 3, 3], Box(0, 0, 4, 3))]
    [6, 3, 3]
    """
    scale = box.width * box.height / (sum(amounts) or 1)
    areas = [amount * scale for amount in amounts]
    placed: list[Box] = []
    while areas:
        side = min(box.width, box.height) or 1e-9
        row = 1
        while row < len(areas) and _worst(areas[: row + 1], side) <= _worst(areas[:row], side):
            row += 1
        strip, areas = areas[:row], areas[row:]
        boxes, box = _strip(strip, box)
        placed += boxes
    return placed


def treemap(root: Tile, *, width: int = 960, height: int = 420, link: str = "") -> str:
    """Draw a treemap; with *link*, each module leads to the address in which ``{}`` is its path."""
    shapes = "".join(_rectangles(root, Box(0, 0, width, height), link))
    return (
        f'<svg class="treemap" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(root.label or "model")}: {root.amount:,}" '
        f'xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'
    )


def sunburst(root: Tile, *, size: int = 420, rings: int = 4, link: str = "") -> str:
    """Draw a sunburst: the centre is the whole, each ring one level down."""
    shapes = "".join(_slices(root, 0.0, 2 * pi, size / 2, rings, link))
    centre = f'<text x="{size / 2}" y="{size / 2}" class="centre">{root.amount:,}</text>'
    return (
        f'<svg class="sunburst" viewBox="0 0 {size} {size}" role="img" aria-label="{escape(root.label or "model")}: {root.amount:,}" '
        f'xmlns="http://www.w3.org/2000/svg">{shapes}{centre}</svg>'
    )


def _worst(row: list[float], side: float) -> float:
    whole = sum(row)
    if not whole or not min(row):
        return float("inf")
    return max(side * side * max(row) / whole**2, whole**2 / (side * side * min(row)))


def _strip(row: list[float], box: Box) -> tuple[list[Box], Box]:
    """Place one row along the shorter side, and return what is left of the box."""
    whole = sum(row)
    if box.width >= box.height:
        thick = whole / (box.height or 1e-9)
        tops = _running([area / (thick or 1e-9) for area in row], box.y)
        return [Box(box.x, top, thick, size) for top, size in tops], Box(box.x + thick, box.y, max(box.width - thick, 0), box.height)
    thick = whole / (box.width or 1e-9)
    lefts = _running([area / (thick or 1e-9) for area in row], box.x)
    return [Box(left, box.y, size, thick) for left, size in lefts], Box(box.x, box.y + thick, box.width, max(box.height - thick, 0))


def _running(sizes: list[float], start: float) -> list[tuple[float, float]]:
    placed = []
    for size in sizes:
        placed.append((start, size))
        start += size
    return placed


def _rectangles(tile: Tile, box: Box, link: str) -> Iterator[str]:
    if tile.children and box.width > 40 and box.height > 34:
        head = 16 if tile.depth else 0
        if tile.depth:
            yield _rectangle(tile, box, link)
        inner = Box(box.x + 2 * bool(head), box.y + head, box.width - 4 * bool(head), box.height - head - 2 * bool(head))
        for child, place in zip(tile.children, squarified([child.amount for child in tile.children], inner), strict=True):
            yield from _rectangles(child, place, link)
    else:
        yield _rectangle(tile, box, link)


def _rectangle(tile: Tile, box: Box, link: str) -> str:
    name = f"{tile.path}: {tile.amount:,}"
    room = int((box.width - 8) / 6.6)
    text = tile.label if len(tile.label) <= room else tile.label[: max(room - 1, 0)] + "…" if room > 3 else ""
    label = f'<text x="{box.x + 4:.1f}" y="{box.y + 12:.1f}">{escape(text)}</text>' if text and box.height > 14 else ""
    shape = (
        f'<rect class="tone{tile.tone % TONES} depth{min(tile.depth, 5)}" x="{box.x:.1f}" y="{box.y:.1f}" '
        f'width="{max(box.width, 0):.1f}" height="{max(box.height, 0):.1f}"><title>{escape(name)}</title></rect>'
    )
    return _linked(shape + label, tile.path, link, name)


def _slices(tile: Tile, start: float, sweep: float, radius: float, rings: int, link: str) -> Iterator[str]:
    thick = radius / (rings + 1)
    for child in tile.children:
        angle = sweep * child.amount / (sum(inner.amount for inner in tile.children) or 1)
        level = child.depth
        if level <= rings and angle > 0.003:
            name = f"{child.path}: {child.amount:,}"
            path = _arc(radius, thick * level, thick * (level + 1) - 1, start, angle)
            shape = f'<path class="tone{child.tone % TONES} depth{min(level, 5)}" d="{path}"><title>{escape(name)}</title></path>'
            yield _linked(shape, child.path, link, name)
            yield from _slices(child, start, angle, radius, rings, link)
        start += angle


def _arc(centre: float, inner: float, outer: float, start: float, sweep: float) -> str:
    sweep = min(sweep, 2 * pi - 1e-4)
    end, large = start + sweep, int(sweep > pi)

    def at(radius: float, angle: float) -> str:
        return f"{centre + radius * sin(angle):.2f} {centre - radius * cos(angle):.2f}"

    return (
        f"M{at(outer, start)}A{outer:.2f} {outer:.2f} 0 {large} 1 {at(outer, end)}"
        f"L{at(inner, end)}A{inner:.2f} {inner:.2f} 0 {large} 0 {at(inner, start)}Z"
    )


def _linked(shape: str, path: str, link: str, name: str) -> str:
    if not link:
        return shape
    from urllib.parse import quote

    return f'<a href="{escape(link.replace("{}", quote(path)))}" aria-label="{escape(name)}">{shape}</a>'
