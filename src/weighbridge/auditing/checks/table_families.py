"""The families of models that a table may be about."""

from __future__ import annotations

from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.table_thresholds import FAMILY_ABOVE
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.tables import Table
from weighbridge.presets.aliases import FAMILY, MODEL


def families_of(scene: Scene, table: Table) -> list[str]:
    """Return the families that a table may be about: named in its head, else last above it, else the only one of the text."""
    first = table.first
    inside = [(m, line) for line in sorted({cell.line for row in table.head for cell in row.cells}) for m in scene.mentions.get(line, ())]
    above = [(m, line) for line in range(first - 1, max(-1, first - 1 - FAMILY_ABOVE), -1) for m in scene.mentions.get(line, ())]
    for group in (inside, above):
        for mention, line in group:
            if mention.kind in (FAMILY, MODEL):
                return [family_of(scene.lines[line].text[mention.column : mention.end])]
    every = _every_family(scene)
    return list(every) if len(every) == 1 else []


@once_for_each_scene
def _every_family(scene: Scene) -> frozenset[str]:
    """Return the families of all models that a text names."""
    anywhere = ((m, line) for line, found in scene.mentions.items() for m in found)
    return frozenset(family_of(scene.lines[line].text[m.column : m.end]) for m, line in anywhere if m.kind in (FAMILY, MODEL))
