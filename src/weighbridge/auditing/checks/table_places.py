"""What a figure in a table stands under and beside: the words at the head of its column, the size that leads its row."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.subjects import family_of
from weighbridge.auditing.checks.table_subjects import column_heads, member_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table


def member_of_row(scene: Scene, table: Table, line: int) -> Subject | None:
    """Return the model of a row that is led by nothing but a size, where the text speaks of one family only."""
    row = table.row_of(line)
    if row is None or not re.fullmatch(r"[*` ]*[\d.]+\s*[MB][*` ]*", row.cells[0].text, re.IGNORECASE):
        return None
    families = {family_of(scene.lines[index].text[m.column : m.end]) for index, found in scene.mentions.items() for m in found}
    if len(families) != 1:
        return None
    return member_of(scene, re.sub(r"[^\w.]", "", row.cells[0].text), list(families), firm=False)


def head_of(table: Table, token: Token) -> str:
    """Return the words at the head of the column that a figure stands in."""
    row = table.row_of(token.line)
    places = (
        [place for place, cell in enumerate(row.cells) if cell.line == token.line and cell.start <= token.start < cell.end]
        if row is not None
        else []
    )
    return column_heads(table)[places[0]] if places else ""
