"""A text with formulas as plain Unicode."""

from __future__ import annotations

from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Equation, Heading, Item, Paper, Paragraph, Words
from weighbridge.documents.renderers.text import measure, table_text

WIDTH = 100


def render(paper: Paper) -> str:
    """Write *paper* as plain text."""
    return "\n".join([f"{paper.title}{colon(paper)}{paper.figure}", *(line for block in paper.worded for line in lines(block))]) + "\n"


def colon(paper: Paper) -> str:
    """Return the colon of the paper's language."""
    return "：" if paper.language == "zh" else ": "


def lines(block: Words) -> list[str]:
    """Write one block.

    >>> lines(Heading(1, "1", "Embeddings", "16,622,592"))[1].endswith(" 16,622,592")
    True
    """
    match block:
        case Heading():
            title = "  " * (block.level - 1) + f"{block.number} {block.title}".strip()
            gap = max(WIDTH - measure(title) - measure(block.figure), 2)
            return ["", (title + " " * gap + block.figure).rstrip()]
        case Paragraph():
            return ["  " * block.level + block.text]
        case Item():
            text = " ".join(piece for piece in (block.number, block.title) if piece)
            return ["  " * block.level + "  ".join(piece for piece in (text, ", ".join(shortened(block.code))) if piece)]
        case Equation():
            return ["  " * block.level + block.label + " = ".join(write(step, UNICODE) for step in block.steps)]
        case _:
            return ["  " + line for line in table_text(block).splitlines()]


def shortened(names: tuple[str, ...]) -> list[str]:
    """Leave out, from the second name on, the path that a name shares with the first.

    >>> shortened(("layer.self.query", "layer.self.key"))
    ['layer.self.query', 'key']
    """
    if len(names) < 2:
        return list(names)
    pieces = [name.split(".") for name in names]
    common = 0
    while all(len(piece) > common + 1 for piece in pieces) and len({piece[common] for piece in pieces}) == 1:
        common += 1
    return [names[0], *(".".join(piece[common:]) for piece in pieces[1:])]
