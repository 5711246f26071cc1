"""Treemap and sunburst of a ledger as SVG: areas and angles are the amounts, nothing else.

Colours stand in attributes, so that a picture needs no style beside it; a page's style may overrule them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import cos, pi, sin
from typing import NamedTuple

from weighbridge.accounts.ledger import Entry
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, positions
from weighbridge.documents.renderers.markup import escape
from weighbridge.documents.roles import ROLES, amounts, main_role, own_amounts, roles_within

HEAD = 16
"""How high the strip is in which a module's name stands above those inside it."""

LEAST = 2.0
"""What is narrower than this, in units of the picture, nobody sees: it is left to the shape around it."""

MOST_TILES = 400
"""Modules of one part that are drawn, the largest; all others are one tile, which says how many they are."""

HOLE = 0.34
"""The empty centre of a sunburst, where the total stands: its part of the radius."""


class Tile(NamedTuple):
    """One module in the picture.

    Attributes:
        path: Its dotted path.
        label: Its name, and how often it is repeated.
        amount: Of all its copies within one copy of the part around it.
        within: How many copies there are of the parts around it.
        depth: How deep it stands.
        role: What it is for, which its colour says (see :mod:`weighbridge.documents.roles`).
        children: What is inside, largest first.
    """

    path: str
    label: str
    amount: int
    within: int
    depth: int
    role: str
    children: tuple[Tile, ...]

    @property
    def words(self) -> str:
        """What the tile says of itself: path and amount, in all copies around it."""
        return f"{self.path}: {f'{self.within:,} × ' if self.within != 1 else ''}{self.amount:,}"


class Box(NamedTuple):
    """A rectangle, in units of the picture."""

    x: float
    y: float
    width: float
    height: float


def tiles(entry: Entry, path: str = "", *, within: int = 1, depth: int = 0, around: tuple[Part, ...] = ()) -> Tile:
    """Turn a ledger into tiles, largest first; what holds nothing is left out.

    Args:
        entry: The module, with its path, how many copies there are of the parts around it, and how deep it is.
        around: The parts it stands in, outermost first: they tell what it is for.
    """
    return _tile(entry, path, within, depth, around)[0]


def tiles_and_roles(entry: Entry) -> tuple[Tile, list[str]]:
    """Turn a whole ledger into tiles, and name the roles in it."""
    tile, held = _tile(entry, "", 1, 0, ())
    return tile, [role for role in ROLES if held.get(role)]


def _tile(entry: Entry, path: str, within: int, depth: int, around: tuple[Part, ...]) -> tuple[Tile, dict[str, int]]:
    """Return a tile, and what all its copies hold of each role."""
    copies = as_int(entry.times)
    held = own_amounts(entry, around)
    inside: list[Tile] = []
    largest = [(name, child) for name, child in unique_names(entry) if child.amount]
    largest.sort(key=lambda named: -as_int(named[1].amount))
    among = (*around, entry.part)
    for name, child in largest[:MOST_TILES]:
        tile, found = _tile(child, join_path(path, name), within * copies, depth + 1, among)
        inside.append(tile)
        _add(found, held)
    rest = [child for _, child in largest[MOST_TILES:]]
    for child in rest:
        _add(amounts(child, among), held)
    if rest:
        amount = sum(as_int(child.amount) for child in rest)
        inside.append(Tile(path, f"… {len(rest):,}", amount, within * copies, depth + 1, roles_within(rest[0], among)[0], ()))
    label = entry.name + (f" × {copies}" if copies != 1 else "")
    made = Tile(path, label, as_int(entry.amount), within, depth, main_role(held), tuple(inside))
    return made, {role: amount * copies for role, amount in held.items()}


def _add(found: dict[str, int], held: dict[str, int]) -> None:
    for role, amount in found.items():
        held[role] = held.get(role, 0) + amount


def unique_names(entry: Entry) -> list[tuple[str, Entry]]:
    """Return the parts inside, each with a unique name: runs of unlike layers share one, so the index of their first layer is added."""
    if len(entry.children) == 1:
        return [(entry.children[0].part.name, entry.children[0])]
    names = [child.part.name for child in entry.children]
    times = Counter(names)
    return [
        (name if times[name] == 1 or child.part.repeat is None else f"{name}[{next(iter(positions(child.part)), 0)}]", child)
        for name, child in zip(names, entry.children, strict=True)
    ]


def join_path(path: str, name: str) -> str:
    """Put a name behind a dotted path; either may be empty.

    >>> join_path("encoder", "layer"), join_path("", "pooler"), join_path("encoder", "")
    ('encoder.layer', 'pooler', 'encoder')
    """
    return f"{path}.{name}" if path and name else path or name


def squarify(amounts: list[int], box: Box) -> list[Box]:
    """Lay out *amounts*, largest first, as rectangles near to squares that fill *box*.

    Source: Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000).

    >>> [round(b.width * b.height) for b in squarify([6, 3, 3], Box(0, 0, 4, 3))]
    [6, 3, 3]
    """
    scale = box.width * box.height / (sum(amounts) or 1)
    areas = [amount * scale for amount in amounts]
    boxes: list[Box] = []
    while areas:
        side = min(box.width, box.height) or 1e-9
        row = 1
        while row < len(areas) and _worst_aspect(areas[: row + 1], side) <= _worst_aspect(areas[:row], side):
            row += 1
        strip, areas = areas[:row], areas[row:]
        found, box = _strip(strip, box)
        boxes += found
    return boxes


def treemap(root: Tile, *, width: int = 960, height: int = 400, link: str = "", kind: str = "") -> str:
    """Draw a treemap; with *link*, each module leads to the address in which ``{}`` is its path; *kind* is one more class."""
    shapes = "".join(_rectangle(tile, box, link) for tile, box in place_tiles(root, Box(0, 0, width, height)))
    return f'<svg class="treemap{" " * bool(kind)}{kind}" {_svg_attributes(root, width, height, link)}>{shapes}</svg>'


def place_tiles(tile: Tile, box: Box) -> Iterator[tuple[Tile, Box]]:
    """Yield the rectangles of a treemap, those around others first."""
    if tile.children and box.width > 40 and box.height > 34:
        head = HEAD if tile.depth else 0
        if tile.depth:
            yield tile, box
        edge = 2 * bool(head)
        inner = Box(box.x + edge, box.y + head, box.width - 2 * edge, box.height - head - edge)
        for child, place in zip(tile.children, squarify([child.amount for child in tile.children], inner), strict=True):
            if place.width >= LEAST and place.height >= LEAST:
                yield from place_tiles(child, place)
    else:
        yield tile, box


def shorten_label(label: str, width: float) -> str:
    """Cut a label so that it stays within *width*; the empty string if too little of it would be left.

    >>> shorten_label("intermediate", 60), shorten_label("intermediate", 20)
    ('interm…', '')
    """
    room = int((width - 8) / 6.6)
    return label if len(label) <= room else label[: room - 1] + "…" if room > 3 else ""


def sunburst(root: Tile, *, size: int = 420, rings: int = 4, link: str = "") -> str:
    """Draw a sunburst: the centre is the whole, each ring one level down."""
    shapes = "".join(_slices(root, 0.0, 2 * pi, size / 2, rings, link))
    text = f"{root.amount:,}"
    points = min(15.0, size * HOLE * 1.4 / len(text))
    centre = f'<text x="{size / 2}" y="{size / 2}" class="centre" text-anchor="middle" dominant-baseline="central" font-size="{points:.1f}">{text}</text>'
    return f'<svg class="sunburst" {_svg_attributes(root, size, size, link)}>{shapes}{centre}</svg>'


def _svg_attributes(root: Tile, width: int, height: int, link: str) -> str:
    name = f"{root.label or 'model'}: {root.amount:,}"
    return (
        f'viewBox="0 0 {width} {height}" role="{"group" if link else "img"}" aria-label="{escape(name)}" font-family="system-ui, sans-serif" font-size="11" '
        f'fill="#10151a" stroke-width="1" xmlns="http://www.w3.org/2000/svg"'
    )


def _paint(tile: Tile) -> str:
    return f'class="role-{tile.role}" fill="{ROLES[tile.role][1]}" stroke="#fff" data-place="{escape(tile.path)}"'


def _worst_aspect(row: list[float], side: float) -> float:
    whole = sum(row)
    if not whole or not min(row):
        return float("inf")
    return max(side * side * max(row) / whole**2, whole**2 / (side * side * min(row)))


def _strip(row: list[float], box: Box) -> tuple[list[Box], Box]:
    """Place one row along the shorter side, and return what is left of the box."""
    whole = sum(row)
    if box.width >= box.height:
        thick = whole / (box.height or 1e-9)
        tops = _spans([area / (thick or 1e-9) for area in row], box.y)
        return [Box(box.x, top, thick, size) for top, size in tops], Box(box.x + thick, box.y, max(box.width - thick, 0), box.height)
    thick = whole / (box.width or 1e-9)
    lefts = _spans([area / (thick or 1e-9) for area in row], box.x)
    return [Box(left, box.y, size, thick) for left, size in lefts], Box(box.x, box.y + thick, box.width, max(box.height - thick, 0))


def _spans(sizes: list[float], start: float) -> list[tuple[float, float]]:
    places = []
    for size in sizes:
        places.append((start, size))
        start += size
    return places


def _rectangle(tile: Tile, box: Box, link: str) -> str:
    text = shorten_label(tile.label, box.width)
    label = f'<text x="{box.x + 4:.1f}" y="{box.y + 12:.1f}">{escape(text)}</text>' if text and box.height > 14 else ""
    if label and not tile.children and box.height > 28 and shorten_label(figure := f"{tile.amount:,}", box.width) == figure:
        label += f'<text x="{box.x + 4:.1f}" y="{box.y + 25:.1f}" class="amount">{figure}</text>'
    size = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{max(box.width, 0):.1f}" height="{max(box.height, 0):.1f}"'
    return _link(f"<rect {_paint(tile)} {size}>", "</rect>", tile, link, label)


def _slices(tile: Tile, start: float, sweep: float, radius: float, rings: int, link: str) -> Iterator[str]:
    hole = radius * HOLE
    thick = (radius - hole) / rings
    whole = sum(inner.amount for inner in tile.children) or 1
    for child in tile.children:
        angle = sweep * child.amount / whole
        level = child.depth
        if level <= rings and angle > 0.01:
            path = _arc(radius, hole + thick * (level - 1), hole + thick * level - 1, start, angle)
            yield _link(f'<path {_paint(child)} d="{path}">', "</path>", child, link)
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


def _link(opening: str, closing: str, tile: Tile, link: str, label: str = "") -> str:
    """Name a shape, by its link where it has one."""
    title = f"<title>{escape(tile.words)}</title>"
    if not link:
        return f"{opening}{title}{closing}{label}"
    from urllib.parse import quote

    return f'<a href="{escape(link.replace("{}", quote(tile.path)))}">{title}{opening}{closing}{label}</a>'
