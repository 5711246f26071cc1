"""The document itself as JSON: its blocks as objects, each with the name of its type. (The JSON of an answer is ``weigh ... --json``.)"""

from __future__ import annotations

import json
from typing import Any

from weighbridge.core.escape import escape_invisible
from weighbridge.core.notation import LATEX, TEXT, write
from weighbridge.documents.document import Bars, Block, Document, Equation, Picture, Plot, Share, Table


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* as JSON.

    >>> render(Document("BertModel", "109,482,240 parameters"))
    '{"title": "BertModel", "figure": "109,482,240 parameters", "lang": "en", "blocks": []}\\n'
    """
    blocks = [_block(block) for block in document.blocks if not isinstance(block, (Picture, Bars, Plot))]
    answer = {"title": document.title, "figure": document.figure, "lang": document.lang, "blocks": blocks}
    return escape_invisible(json.dumps(answer, ensure_ascii=False)) + "\n"


def _block(block: Block) -> dict[str, Any]:
    kind = type(block).__name__.lower()
    match block:
        case Equation():
            steps = [{"text": write(step, TEXT), "latex": write(step, LATEX)} for step in block.steps]
            return {"type": kind, "level": block.level, "label": block.label, "steps": steps}
        case Table():
            kept = block.visible_columns("path")
            rows = [[_cell(row.cells[i]) for i in kept] for row in block.rows]
            return {"type": kind, "title": block.title, "columns": [block.columns[i].title for i in kept], "rows": rows}
        case _:
            return {"type": kind, **block._asdict()}


def _cell(cell: object) -> object:
    return str(cell) if isinstance(cell, Share) else cell
