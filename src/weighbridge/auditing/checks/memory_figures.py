"""Figures of memory in lines and tables, each with its labels: what it is of, in which dtype, of which model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.memory_labels import (
    FIGURE,
    Count,
    MemoryFigure,
    called_counts,
    clause_behind,
    has_doubt,
    is_ambiguous,
    label_behind,
    role_of,
    sentence_start,
    sizes_of_label,
    sizes_of_role,
)
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.memory import once_for_each_scene, once_for_each_shape
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL

_LONGEST = 2_000
_CHINESE = pattern(r"[\u4e00-\u9fff]")
_RANGE_BEFORE = pattern(r"\d\s?(?:[KMGT]i?B\s?)?(?:[-~～–—]|to|到|至)\s?$", re.IGNORECASE)
_RANGE_BEHIND = pattern(r"\s?(?:[-~～–—]|to\b|到|至)\s?\d", re.IGNORECASE)
_OPEN = pattern(r"[(（]")
_UNIT = pattern(r"[(（\[,，/]\s?(?:in )?(?P<unit>[MGT]i?B)\s?[)）\]]?|\bin (?P<of>[MGT]i?B)\b")
_BARE = pattern(r"[\s*`~≈约]*(?P<number>\d[\d,]{0,11}(?:\.\d{1,6})?)[\s*`]*")
_ABOVE = 14
"""Lines above a figure within which its model may be called by its count."""


def memory_figures(scene: Scene) -> list[MemoryFigure]:
    """Return the figures of memory of a text in their order."""
    tabled = frozenset(line for table in scene.tables for line in table.lines)
    found = [one for place, table in enumerate(scene.tables) for one in _of_table(scene, table, place)]
    for index in scene.counted_lines:
        text = scene.texts[index]
        if index not in tabled and len(text) <= _LONGEST and has_figure(text):
            found += _of_line(scene, index)
    return sorted(found, key=lambda one: (one.line, one.start))


@once_for_each_shape
def has_figure(text: str) -> bool:
    """Tell whether a line has a figure of memory."""
    return FIGURE.search(text) is not None


class _Before(NamedTuple):
    """What the figures before in a line leave to the next: where their labels end, and the bytes of each parameter that were said before them."""

    end: int = 0
    sizes: tuple[Fraction, ...] = ()


def _of_line(scene: Scene, index: int) -> Iterator[MemoryFigure]:
    text = scene.lines[index].text
    figures = [m for m in FIGURE.finditer(text) if m["unit"] != "G" or _CHINESE.search(text)]
    before = _Before()
    for place, figure in enumerate(figures):
        stop = figures[place + 1].start() if place + 1 < len(figures) else len(text)
        start = sentence_start(text, before.end, figure.start())
        label, end = label_behind(text, figure.end(), stop)
        words, behind = text[start : figure.start()], clause_behind(text, end, stop)
        sizes = sizes_of_label(label) or sizes_of_label(words)
        inherited = () if sizes or is_ambiguous(words) else _sizes_above(scene, index, start, before)
        role = role_of(label) or role_of(_before_open(words)) or role_of(words)
        if role in ("", "weights") and not sizes and not inherited and _CALLED_RIGHT_BEFORE.search(words):
            inherited = _USUAL
        ranged = _RANGE_BEFORE.search(text, 0, figure.start()) or _RANGE_BEHIND.match(text, figure.end())
        before = _Before(end, () if sizes_of_label(label) or inherited == _USUAL else sizes or inherited)
        if ranged is None:
            yield MemoryFigure(
                index,
                *figure.span(),
                figure["number"],
                figure["unit"],
                _counts(scene, index, start, figure.start(), behind),
                sizes_of_role(role, sizes or inherited),
                role,
                has_doubt(f"{words} {behind}"),
            )


def _before_open(words: str) -> str:
    """Return what stands before the last parenthesis of some words that is still open."""
    opened = [m.start() for m in _OPEN.finditer(words)]
    return words[: opened[-1]] if opened and not re.search(r"[)）]", words[opened[-1] :]) else ""


def _sizes_above(scene: Scene, index: int, start: int, before: _Before) -> tuple[Fraction, ...]:
    """Return the bytes of each parameter that the line goes on with: for another model in the same dtype, or as the line above says."""
    text = scene.lines[index].text
    if before.end:
        return before.sizes if called_counts(text[before.end :]) or _AGAIN.match(text, before.end) else ()
    if start and sizes_of_label(text[:start]):
        return sizes_of_label(text[:start])
    for above in range(index - 1, max(-1, index - _NEXT), -1):
        other = scene.lines[above].text
        if other.strip():
            return () if has_figure(other) else sizes_of_label(other)
    return ()


_USUAL = (Exact(4), Exact(2), Exact(1), Exact(1, 2))
_CALLED_RIGHT_BEFORE = pattern(
    r"\d\s?(?:B|billion|亿)[ -]?(?:个?参数|param\w*|weights|models?|的?模型)?\s?(?:[(（=:：≈~→]|->|约|大约|about|roughly|takes|needs|uses|is|占|需要?|要|\s){1,4}$",
    re.IGNORECASE,
)
"""A model's count right before a figure, which then is of its parameters: ``7B 参数（14GB）``."""
_NEXT = 3
_AGAIN = pattern(r"[\s$*]{0,3}[(（]\s?(?:近似|约|即|也就是|≈|~|about|approx\w*|or|i\.e\.)?\s?[~≈约]?\s?\d", re.IGNORECASE)
"""A figure that says the one before it again."""


def _counts(scene: Scene, index: int, start: int, end: int, behind: str) -> tuple[Count, ...]:
    """Return the parameters that a figure's model may have."""
    said = counts_of_line(scene, index)
    near = [counts for column, counts in said if start <= column < end]
    if near:
        return near[-1]
    later = called_counts(behind)
    if later:
        return (later[0][1],)
    earlier = [counts for column, counts in said if column < start]
    return earlier[-1] if earlier else counts_above(scene, index)


@once_for_each_scene
def counts_of_line(scene: Scene, index: int) -> Sequence[tuple[int, tuple[Count, ...]]]:
    """Return where a line names a model, or calls it by its count, with the parameters that it may have."""
    text, named = scene.lines[index].text, scene.mentions.get(index, ())
    found: list[tuple[int, tuple[Count, ...]]] = []
    for mention in named:
        nominal = [count._replace(named=True) for _, count in called_counts(text[mention.column : mention.end])]
        own = [
            Count(Exact(own_parameters), named=True)
            for name in mention.names[:1]
            if mention.kind == MODEL and (model := preset_model(name)) is not None and (own_parameters := own_count(model))
        ]
        if own or nominal:
            found.append((mention.column, (*nominal, *own)))
    for column, count in called_counts(text):
        if not any(m.column <= column < m.end for m in named):
            found.append((column, (count,)))
    return sorted(found)


@once_for_each_scene
def counts_above(scene: Scene, index: int) -> tuple[Count, ...]:
    """Return the parameters of the one model that the lines above call by its count, or the one that the whole text does."""
    for above in range(index - 1, max(-1, index - _ABOVE), -1):
        said = counts_of_line(scene, above)
        if said:
            return said[0][1] if len({counts[0].number for _, counts in said}) == 1 else ()
        if scene.lines[above].heading:
            break
    return _only_count(scene)


@once_for_each_scene
def _only_count(scene: Scene) -> tuple[Count, ...]:
    """Return the parameters of the only model that a text calls by its count."""
    said = {counts[0].number: counts for index in scene.counted_lines for _, counts in counts_of_line(scene, index)}
    return next(iter(said.values())) if len(said) == 1 else ()


_TRAINED = pattern(r"train|tun(?:e|ing)\b|method|训练|微调|方法", re.IGNORECASE)
_PARTS = pattern(r"component|part|item|state|组成|部分|项目?|类型", re.IGNORECASE)


def _of_table(scene: Scene, table: Table, place: int) -> Iterator[MemoryFigure]:
    heads = column_heads(table)
    if _TRAINED.search(heads[0]) and not _PARTS.search(heads[0]):
        return  # ways to train, each with a need of its own
    for number, row in enumerate(table.rows):
        for column in range(1, len(row.cells)):
            head = heads[column] if column < len(heads) else ""
            if (found := _of_cell(scene, row, row.cells[column], head)) is not None:
                groups = (("row", place, number), ("column", place, column))
                yield found._replace(groups=groups, counts=found.counts or counts_above(scene, table.first))


def _of_cell(scene: Scene, row: Row, cell: Cell, head: str) -> MemoryFigure | None:
    figures = list(FIGURE.finditer(cell.text)) if has_figure(cell.text) else []
    bare, said = _BARE.fullmatch(cell.text), _UNIT.search(head)
    if len(figures) == 1:
        figure, unit = figures[0], figures[0]["unit"]
    elif bare is not None and said is not None:
        figure, unit = bare, said["unit"] or said["of"]
    else:
        return None
    if _RANGE_BEFORE.search(cell.text, 0, figure.start()) or _RANGE_BEHIND.match(cell.text, figure.end()):
        return None
    label = row.cells[0].text
    words = [cell.text, head, label]
    sizes = next((sizes for one in words if (sizes := sizes_of_label(one))), ())
    role = next((role for one in (label, head, cell.text) if (role := role_of(one))), "")
    start, end = cell.start + figure.start("number"), cell.start + (figure.end("unit") if figures else figure.end("number"))
    return MemoryFigure(
        cell.line,
        start,
        end,
        figure["number"],
        unit,
        _counts_of_row(row, cell, head),
        sizes_of_role(role, sizes),
        role,
        any(map(has_doubt, [*words, *_short_cells(row, cell)])) or any(map(is_ambiguous, words)),
    )


def _short_cells(row: Row, cell: Cell) -> list[str]:
    """Return the other cells of a row that label it: those without a figure, and no sentences."""
    return [one.text for one in row.cells[1:] if one is not cell and len(one.text) <= _LABEL and not has_figure(one.text)]


_LABEL = 24


def _counts_of_row(row: Row, cell: Cell, head: str) -> tuple[Count, ...]:
    """Return the parameters of the one model that a row, or the head of a column, calls by its count."""
    said = [count for one in row.cells if one is not cell for _, count in called_counts(one.text)] or [c for _, c in called_counts(head)]
    return (said[0],) if said and len({count.number for count in said}) == 1 else ()
