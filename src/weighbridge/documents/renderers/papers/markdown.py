"""A text with formulas as Markdown; formulas stay Unicode, so that they read the same everywhere."""

from __future__ import annotations

from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Equation, Heading, Item, Paper, Paragraph, Words
from weighbridge.documents.renderers.markdown import table_markdown
from weighbridge.documents.renderers.papers.text import colon, shortened


def render(paper: Paper) -> str:
    """Write *paper* as Markdown."""
    return "\n\n".join([f"# {paper.title}{colon(paper)}{paper.figure}", *map(_block, paper.worded)]) + "\n"


def _block(block: Words) -> str:
    match block:
        case Heading():
            figure = f" ({block.figure})" if block.figure else ""
            return "#" * min(block.level + 1, 6) + f" {block.number} {block.title}".replace("  ", " ") + figure
        case Paragraph():
            return block.text
        case Item():
            code = ", ".join(f"`{name}`" for name in shortened(block.code))
            text = " ".join(piece for piece in (block.number, block.title) if piece)
            return " ".join(piece for piece in (f"**{text}**" if text else "", code) if piece)
        case Equation():
            return (f"*{block.label.strip()}* " if block.label else "") + " = ".join(write(step, UNICODE) for step in block.steps)
        case _:
            return table_markdown(block)
