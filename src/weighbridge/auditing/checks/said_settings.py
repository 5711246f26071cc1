"""Where a text sets a size of a model: in rows of a label and its value, in code and lists, in a number below its label."""

from __future__ import annotations

import re
from collections.abc import Collection

from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.settings import Setting, kind_of_label, read_settings
from weighbridge.auditing.text.tables import Row, Table


def rows_of_settings(scene: Scene, tabled: Collection[int]) -> dict[int, list[Setting]]:
    """Return the settings of tables whose rows are a label and its value, with remarks or none, by the line of the value."""
    found: dict[int, list[Setting]] = {}
    known = frozenset(tabled)
    for table in scene.tables:
        if table.lines <= known:
            continue
        for row in (*table.head, *table.rows):
            place = _value_cell(table, row)
            kind = kind_of_label(row.cells[0].text) if place else None
            if place and kind is not None:
                cell = row.cells[place]
                figure = _FIGURE.match(cell.text) or _IN_BRACKETS.fullmatch(cell.text)
                if figure is not None and not OTHERWISE.search(REMARKS.sub(" ", f"{row.cells[0].text} {cell.text}")):
                    found.setdefault(cell.line, []).append(
                        Setting(kind, cell.start + figure.start("value"), cell.start + figure.end("value"), row.cells[0].text)
                    )
    return found


def _value_cell(table: Table, row: Row) -> int | None:
    """Return which cell of a row is its value: the second of two, or the one below a word for values."""
    heads = [cell.text.strip("* `").lower() for cell in table.head[0].cells] if table.head else []
    if len(row.cells) == 2:
        return 1
    place = next((i for i, head in enumerate(heads) if i and _VALUE_HEAD.fullmatch(head)), None)
    return place if place is not None and place < len(row.cells) else None


_VALUE_HEAD = pattern(
    r"values?|config(?:uration)?s?|settings?|spec(?:ification)?s?|details?|取值|值|数值|配置|参数值|规格|规模|数量|参数配置|具体配置|具体数值|参数规格|模型配置|设置"
)
_FIGURE = pattern(
    r"[~≈约*`$ ]*(?P<value>\d{1,3}(?:,\d{3})+|\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT](?![A-Za-z])|million|billion|万亿|千亿|百亿|亿|万))?)(?![\d.,]*\d|\s?[-–/×x*]\s?\d)",
    re.IGNORECASE,
)
_IN_BRACKETS = pattern(r"[^\d()（）]{3,80}[(（]\s?(?P<value>\d{1,3}(?:,\d{3})+|\d{1,9})(?: [a-z]{3,12})?\s?[)）][.。]?\s*", re.IGNORECASE)
"""What a setting means, with its value behind: ``Total number of transformer layers (61)``."""
REMARKS = pattern(r"[(（][^()（）]*[)）]|\bper token\b|\beach\b", re.IGNORECASE)
_ALONE = pattern(r"[\s*`~≈]*(?P<value>\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT]|million|billion|万亿|千亿|亿|万))?)[\s*`]*")


_DIGIT = pattern(r"\d")


def settings_at(scene: Scene, index: int, rows: dict[int, list[Setting]]) -> list[Setting]:
    """Return the settings of a line: of its row, of the code it is, or its number alone below a line that is a label."""
    if index in rows:
        return rows[index]
    text = scene.lines[index].text
    if "|" in text or not _DIGIT.search(text):
        return []
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        above = next((i for i in range(index - 1, max(-1, index - 3), -1) if scene.lines[i].text.strip()), -1)
        label = scene.lines[above].text if above >= 0 else ""
        kind = None if re.search(r"\d", label) else kind_of_label(re.sub(r"^[\s•*+-]+", "", label))
        return [Setting(kind, *alone.span("value"), label)] if kind is not None else []
    return list(read_settings(text))
