"""A diagram of an architecture: a box for each part in the order of the forward pass, layers in a frame with their number, in the colours of the roles."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from weighbridge.core.messages import Say
from weighbridge.documents.roles import FROM_TOPIC, ROLES
from weighbridge.explain.derive import Derivation
from weighbridge.explain.section import Line, Section

WIDTH, ROW, GAP, INSET = 460, 26, 6, 14
MOST = 24
"""Boxes of one diagram; of a larger model the inner parts stay shut."""


class Box(NamedTuple):
    """A drawn rectangle: where it is, what stands in it, and whether it is a frame around others."""

    x: int
    y: int
    width: int
    height: int
    left: str
    right: str
    role: str
    frame: bool = False


def diagram(derivation: Derivation, say: Say) -> str:
    """Return the diagram as SVG.

    >>> from weighbridge import model
    >>> diagram(model("bert-base-uncased").explain(), lambda text: text).count("<rect")
    6
    """
    depth = next((depth for depth in (3, 2) if _count(derivation.root, depth) <= MOST), 1)
    boxes, bottom = _stack(derivation.root, 0, 0, WIDTH, depth)
    title = escape(say("Diagram of {name}").format(name=derivation.title))
    drawn = "".join(map(_draw, boxes))
    return (
        f'<svg class="diagram" viewBox="0 0 {WIDTH} {bottom}" width="{WIDTH}" height="{bottom}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{title}</title>{drawn}</svg>"
    )


def _inside(section: Section) -> list[Line | Section]:
    return [part for part in section.parts if part.value]


def _count(section: Section, depth: int) -> int:
    return sum(1 + (_count(part, depth - 1) if isinstance(part, Section) and depth > 1 else 0) for part in _inside(section))


def _opens(part: Line | Section, depth: int) -> bool:
    return isinstance(part, Section) and depth > 1 and any(isinstance(inner, Section) for inner in _inside(part))


def _stack(section: Section, x: int, y: int, width: int, depth: int) -> tuple[list[Box], int]:
    boxes: list[Box] = []
    for part in _inside(section):
        left, right = _words(part)
        if isinstance(part, Section) and _opens(part, depth):
            inner, bottom = _stack(part, x + INSET, y + ROW, width - 2 * INSET, depth - 1)
            boxes += [Box(x, y, width, bottom - y + INSET - GAP, left, right, "", frame=True), *inner]
            y = bottom + INSET
        else:
            boxes.append(Box(x, y, width, ROW, left, right, _role(part)))
            y += ROW + GAP
    return boxes, y


def _words(part: Line | Section) -> tuple[str, str]:
    if isinstance(part, Line):
        return part.title, f"{part.value:,}"
    copies = f" × {part.copies:,}" if part.copies != 1 else ""
    return part.title + copies, f"{part.value:,}"


def _role(part: Line | Section) -> str:
    """Return the role of which a part holds most."""
    found: dict[str, int] = {}
    for kind, value in _kinds(part):
        role = FROM_TOPIC.get(kind, _OF_KIND.get(kind, "other"))
        found[role] = found.get(role, 0) + value
    return max(found, key=lambda role: found[role], default="other")


_OF_KIND = {"layer_norm": "norm", "rms_norm": "norm", "batch_norm": "norm", "group_norm": "norm", "table": "embedding"}


def _kinds(part: Line | Section) -> Iterator[tuple[str, int]]:
    if isinstance(part, Section) and part.kind not in FROM_TOPIC and part.kind not in _OF_KIND:
        for inner in part.parts:
            yield from _kinds(inner)
    else:
        yield part.kind, part.value


def _draw(box: Box) -> str:
    fill = "none" if box.frame else ROLES[box.role][1]
    line = 'stroke="currentColor" stroke-dasharray="4 3"' if box.frame else 'stroke="none"'
    colour = "currentColor" if box.frame else "#16202a"
    middle = box.y + ROW // 2 + 5
    return (
        f'<rect x="{box.x + 1}" y="{box.y + 1}" width="{box.width - 2}" height="{box.height - 2}" rx="5" fill="{fill}" {line}/>'
        f'<text x="{box.x + 10}" y="{middle}" font-size="13" fill="{colour}">{escape(box.left)}</text>'
        f'<text x="{box.x + box.width - 10}" y="{middle}" font-size="13" text-anchor="end" fill="{colour}">{escape(box.right)}</text>'
    )
