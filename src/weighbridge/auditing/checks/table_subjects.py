"""Tables of models: what each column holds, and which model each row or column is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.agreed_columns import kinds_by_agreement
from weighbridge.auditing.checks.cell_models import member_of, models_of_cell
from weighbridge.auditing.checks.column_kinds import COUNT_COLUMNS, SIZE_COLUMNS, column_heads, kind_of, kinds_of
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.names import find_mentions
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.table_families import families_of
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import AGREED_COLUMN, MOST_MEMBERS
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY
from weighbridge.presets.aliases import table as names_table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


_GRID = pattern(r"\b([A-Z])\s*=\s*\d+")


class ModelTable(NamedTuple):
    """A table whose rows or columns are models: each judged cell with its model and what it holds, and whether its columns are the models."""

    table: Table
    cells: tuple[tuple[Row, Cell, str, Subject, str], ...]
    columns: bool = False


def bind(scene: Scene) -> list[ModelTable]:
    """Find the tables whose rows or columns are models."""
    found = []
    for table in scene.tables:
        by_rows = _by_rows(scene, table)
        bound = by_rows or _by_columns(scene, table)
        bound = bound if any(re.search(r"\d", cell.text) for _, cell, *_ in bound) else []
        if bound or is_grid(table):
            found.append(ModelTable(table, tuple(bound), columns=not by_rows))
    return found


def is_grid(table: Table) -> bool:
    """Tell whether a row sets one size to several values: ``H=128 | H=256``, a grid of models and no statement."""
    for row in (*table.head, *table.rows):
        letters = [match[1] for cell in row.cells if "=" in cell.text for match in _GRID.finditer(cell.text)]
        if any(letters.count(letter) > 1 for letter in letters):
            return True
    return False


def _by_rows(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    heads = column_heads(table)
    kinds = [kind if _has_figures(table, place) else "" for place, kind in enumerate(kinds_of(heads))]
    if "experts" in kinds:
        kinds = ["active_experts" if _CHOSEN.fullmatch(head) else kind for kind, head in zip(kinds, heads, strict=True)]
    known = any(kind in (*SIZE_COLUMNS, *COUNT_COLUMNS) for kind in kinds)
    if not known and (len(table.rows) < AGREED_COLUMN or not any(row.line in scene.mentions for row in table.rows)):
        return []
    families = families_of(scene, table)
    told = [
        (row, _rank_by_sizes(subject, row, kinds, counted=_is_counted(subject, row, kinds)))
        for row in table.rows
        if (subject := _row_subject(scene, row, kinds, families)) is not None
    ]
    kinds = kinds_by_agreement(kinds, told)
    return [
        (row, piece, what, subject, words)
        for row, subject in told
        for cell, kind, head in zip(row.cells, kinds, heads, strict=False)
        for piece, what, words in _pieces(cell, kind, head)
        if what in (*SIZE_COLUMNS, *COUNT_COLUMNS)
    ]


def _pieces(cell: Cell, kind: str, head: str) -> Iterator[tuple[Cell, str, str]]:
    """Yield what a cell holds, several things where its head names as many: ``671B / 37B`` below ``总参数 / 激活参数``."""
    if "/" not in head and "／" not in head:
        yield cell, kind, head
        return
    heads, values = _SLASH.split(head), _SLASH.split(cell.text)
    counted = kind in COUNT_COLUMNS  # ``总 / 激活参数``, but not ``上下文 / 生成``
    kinds = [kind_of(one) or (kind_of(f"{one} params") if counted else "") for one in heads]
    if len(heads) < _SEVERAL or len(heads) != len(values) or len(set(kinds)) != len(kinds) or not all(kinds) or "other" in kinds:
        yield cell, kind, head
        return
    remarks = {found[1].lower() for value in values if (found := _REMARKED.search(value)) is not None}
    if len(remarks) == len(values):
        values = (
            values[:0] if all(kind_of(one) in kinds for one in remarks) else values[:1]
        )  # ``355B (Base) / 106B (Air)`` is of two models
    place = 0
    for value, what, words in zip(values, kinds, heads, strict=False):
        start = cell.text.index(value, place)
        place = start + len(value)
        yield cell._replace(text=value, start=cell.start + start, end=cell.start + place), what, words


_SLASH = pattern(r"\s*[/／]\s*")
_REMARKED = pattern(r"[(（]([^()（）]+)[)）]\W*$")
_SEVERAL = 2
_CHOSEN = pattern(r"\W*top[- ]?k\W*", re.IGNORECASE)
"""The head of a column that says, beside one of experts, how many of them a token goes to."""


def _has_figures(table: Table, place: int) -> bool:
    """Tell whether a column holds numbers: one called ``Size`` may hold ``tiny`` and ``base``."""
    return any(place < len(row.cells) and re.search(r"\d", row.cells[place].text) for row in table.rows)


def _by_columns(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    top = (*table.head, *table.rows[:1])[:1]
    families = families_of(scene, table)
    subjects = [models_of_cell(scene, cell.text, families) for cell in (top[0].cells[1:] if top else ())]
    if not any(subjects):
        return []
    found = []
    labels = [row.cells[0].text for row in table.rows]
    for row, label, named in zip(table.rows, labels, kinds_of(labels), strict=True):
        for cell, subject in zip(row.cells[1:], subjects, strict=False):
            for piece, kind, head in _pieces(cell, named, label) if subject is not None else ():
                if kind in (*SIZE_COLUMNS, *COUNT_COLUMNS) and subject is not None:
                    found.append((row, piece, kind, subject, head))
    sure = {id(subject): subject._replace(firm=True) for subject in subjects if subject is not None and _is_settled(subject, found)}
    return [(row, cell, kind, sure.get(id(subject), subject), head) for row, cell, kind, subject, head in found]


def _is_settled(subject: Subject, cells: Sequence[tuple[Row, Cell, str, Subject, str]]) -> bool:
    """Tell whether a column has two kinds of sizes and more that are its model's: then that member of the family is meant."""
    own = words_of(subject.models[0])
    told = [(kind, whole_number(cell)) for _, cell, kind, other, _ in cells if other is subject and kind in SIZE_COLUMNS]
    return len({kind for kind, value in told if kind in own and own[kind] == value}) >= AGREED_FIELDS


def _row_subject(scene: Scene, row: Row, kinds: Sequence[str], families: Sequence[str]) -> Subject | None:
    for place, (cell, kind) in enumerate(zip(row.cells[:3], kinds, strict=False)):
        if (kind in ("", "other") or (not place and _CALLED.match(cell.text))) and re.search(r"[A-Za-z\u4e00-\u9fff]", cell.text):
            found = models_of_cell(scene, cell.text, families)
            if found is not None:
                return found
    family = _family_row(scene, row, kinds)
    if family is not None:
        return family
    lead = row.cells[0].text
    if kinds[0] == "total" or re.fullmatch(r"[\d.]+\s*[MB]", lead, re.IGNORECASE):
        return member_of(scene, re.sub(r"[^\w.]", "", lead), families, firm=False) or _by_size(scene, row, kinds)
    return None


_CALLED = re.compile(r"[\s*`\[]*[A-Za-z]{3}")
"""A first cell that begins with a name, whatever its column is called: ``Pythia-70M`` under ``Params``."""


def _by_size(scene: Scene, row: Row, kinds: Sequence[str]) -> Subject | None:
    """Take a row that is led by its count for the member of a named family that has its sizes: ``| 6.7B | 4096 | 32 |``."""
    told = {kind: whole_number(cell) for cell, kind in zip(row.cells, kinds, strict=False) if kind in SIZE_COLUMNS}
    models = _models_named(scene) if len(told) > 1 else ()
    fitting = [model for model in models if len(told) > 1 and all(words_of(model).get(kind) == value for kind, value in told.items())]
    return Subject(tuple(fitting), fitting[0].source, False) if fitting else None


@once_for_each_scene
def _models_named(scene: Scene) -> Sequence[ModelValue]:
    """Return what the first models may be that a text names."""
    names = dict.fromkeys(name for found in scene.mentions.values() for m in found for name in m.names)
    return [model for name in list(names)[:MOST_MEMBERS] if (model := preset_model(name)) is not None]


def _family_row(scene: Scene, row: Row, kinds: Sequence[str]) -> Subject | None:
    """Take a row that names only a family for the members that its own count fits: ``| GPT-3 | 175B | 96 |``."""
    named = [
        (m, cell.text[m.column : m.end])
        for cell, kind in zip(row.cells[:3], kinds, strict=False)
        if kind in ("", "other")
        for m in find_mentions(cell.text)
    ]
    mentions = [m for m, _ in named]
    cells = [cell for cell, kind in zip(row.cells, kinds, strict=False) if kind == "total"]
    figures = [t for cell in cells for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit]
    if len(mentions) != 1 or mentions[0].kind != FAMILY or len(figures) != 1:
        return None
    models = [model for name in mentions[0].names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
    fitting = tuple(model for model in models if settle(figures[0], (model,)) is not None)
    if not fitting:  # its sizes tell: ``| LLaMA-2 | 33B | 40 | 5120 |``
        told = {kind: value for cell, kind in zip(row.cells, kinds, strict=False) if kind in SIZE_COLUMNS and (value := whole_number(cell))}
        fitting = tuple(
            m for m in models if len(told) >= AGREED_FIELDS and all(words_of(m).get(kind) == value for kind, value in told.items())
        )
        return Subject(fitting, fitting[0].source, True) if len(fitting) == 1 and not _has_versions(family_of(named[0][1])) else None
    return Subject(fitting, fitting[0].source, False)


@lru_cache(maxsize=256)
def _has_versions(family: str) -> bool:
    """Tell whether a family's name is also that of others with a number behind it, which may be meant: ``LLaMA`` of ``LLaMA 2``."""
    return any(
        name.startswith(family) and name[len(family) :].isdigit() for name, meaning in names_table().items() if meaning.kind == FAMILY
    )


def _is_counted(subject: Subject, row: Row, kinds: Sequence[str]) -> bool:
    """Tell whether a row gives a count in a unit that is that of the only model its name may mean."""
    cells = [cell for cell, kind in zip(row.cells, kinds, strict=False) if kind == "total"]
    figures = [t for cell in cells for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit]
    return len(figures) == 1 and len(subject.models) == 1 and settle(figures[0], subject.models) is not None


def _rank_by_sizes(subject: Subject, row: Row, kinds: Sequence[str], *, counted: bool) -> Subject:
    """Put first the model whose sizes are those of the row, and be sure where two sizes and more agree, or one and the count."""

    def agreement(model: ModelValue) -> int:
        own = words_of(model)
        return sum(
            whole_number(cell) == own.get(kind)
            for cell, kind in zip(row.cells, kinds, strict=False)
            if kind in SIZE_COLUMNS and kind in own
        )

    ranked = sorted(subject.models, key=lambda model: -agreement(model))
    return Subject(tuple(ranked), subject.name, subject.firm or agreement(ranked[0]) + counted >= AGREED_FIELDS)
