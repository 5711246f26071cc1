"""What a figure in a table stands under and beside: the words at the head of its column, the size that leads its row."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.cell_models import member_of
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table
from weighbridge.presets.aliases import MODEL


def member_of_row(scene: Scene, table: Table, line: int) -> Subject | None:
    """Return the model of a row that is led by nothing but a size, where the text speaks of one family only."""
    row = table.row_of(line)
    if row is None or not re.fullmatch(r"[*` ]*[\d.]+\s*[MB][*` ]*", row.cells[0].text, re.IGNORECASE):
        return None
    families = _families(scene)
    if len(families) != 1:
        return None
    return member_of(scene, re.sub(r"[^\w.]", "", row.cells[0].text), list(families), firm=False)


@once_for_each_scene
def _families(scene: Scene) -> frozenset[str]:
    """Return the families of all models that a text names, known or not."""
    return frozenset(family_of(scene.lines[index].text[m.column : m.end]) for index, found in scene.mentions.items() for m in found)


_LABEL = 160
"""Characters that a label above a table has at most."""
_ABOVE = 3
"""Lines above a table in which its label stands."""


def model_above(scene: Scene, table: Table) -> Subject | None:
    """Return the one model that the label or the heading right above a table names, where the table itself names none."""
    first = table.first
    if any(scene.mentions.get(index) for index in table.lines):
        return None
    above = next((i for i in range(first - 1, max(-1, first - 1 - _ABOVE), -1) if scene.lines[i].text.strip()), None)
    if above is None or len(scene.lines[above].text) > _LABEL:
        return None
    named = scene.mentions.get(above, ())
    if not named and not scene.lines[above].heading and scene.headings[above] >= 0:
        named = scene.mentions.get(scene.headings[above], ())
    alone = len({m.names for m in named}) == 1 and named[0].kind == MODEL
    return of_mention(scene, named[0], firm=True) if alone else None


def length_of_row(table: Table, line: int) -> str:
    """Return how many tokens the first cell of a row says, as ``4K tokens``, where that is all it says and its head says no less."""
    row = table.row_of(line)
    match = _LENGTH_CELL.fullmatch(row.cells[0].text) if row is not None else None
    if match is None or not (match["unit"] or _LENGTH_HEAD.search(column_heads(table)[0])):
        return ""
    return f"{match['number']} tokens"


_LENGTH_CELL = pattern(r"[*` ]*(?P<number>\d[\d,]*\s?[kK]?)[ -]*(?P<unit>tokens?|context|ctx)?[*` ]*", re.IGNORECASE)
_LENGTH_HEAD = pattern(r"context|sequence|seq|length|tokens?|ctx|上下文|长度", re.IGNORECASE)


def stands_alone(table: Table, token: Token) -> bool:
    """Tell whether a figure is all that its cell says: ``64.68 GiB / 626,949 tokens`` says more."""
    row = table.row_of(token.line)
    cells = [cell for cell in row.cells if cell.line == token.line and cell.start <= token.start < cell.end] if row is not None else []
    return any(
        not re.sub(r"[(（][^()（）]*[)）]|[\s*`~≈约]", "", cell.text[: token.start - cell.start] + cell.text[token.end - cell.start :])
        for cell in cells
    )


def head_of(table: Table, token: Token) -> str:
    """Return the words at the head of the column that a figure stands in."""
    row = table.row_of(token.line)
    places = (
        [place for place, cell in enumerate(row.cells) if cell.line == token.line and cell.start <= token.start < cell.end]
        if row is not None
        else []
    )
    return column_heads(table)[places[0]] if places else ""


def lines_of_others(scene: Scene) -> set[int]:
    """Return the lines of tables whose head says that a column is another model's: ``| Property | Ours | Theirs |``."""
    return {
        line for table in scene.tables if any(_OURS.search(cell.text) for row in table.head for cell in row.cells) for line in table.lines
    }


_OURS = pattern(r"\b(?:ours?|theirs|mine|custom|student|teacher|baseline|proposed|this work)\b|我们|自己|本文|学生|教师", re.IGNORECASE)
