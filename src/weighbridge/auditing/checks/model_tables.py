"""Tables of models: rows are models and columns their sizes and counts, or the reverse; a grid of sizes is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from weighbridge.auditing.checks import totals
from weighbridge.auditing.checks.configuration import NAMES
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.names import within
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.table_counts import Judged, be_sure_of_family, count_claims, doubtful_kinds, part_claims
from weighbridge.auditing.checks.table_subjects import (
    SIZE_COLUMNS,
    ModelTable,
    column_heads,
    families_of,
    is_grid,
    kind_of,
    named_in_cell,
    whole_number,
)
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import LEAST_ROWS, MOST_MEMBERS, NAME_AND_SIZE
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

PRINTED = {("gpt3-13b", "hidden"): 5140, ("gpt3-1.3b", "heads"): 24}
"""Sizes that a paper's own table has otherwise than any model can be; everybody copies them."""


def _grid(scene: Scene, table: Table) -> Iterator[Claim]:
    """Check the names in a grid of sizes against the sizes of their row and column."""
    families = families_of(scene, table)
    top = [_GRID_SIZE.search(cell.text) for cell in (table.head or table.rows)[0].cells]
    for row in table.rows:
        side = _GRID_SIZE.search(row.cells[0].text)
        for cell, head in zip(row.cells[1:], top[1:], strict=False):
            subject = named_in_cell(scene, cell.text, families)
            if subject is None or side is None or head is None:
                continue
            own = words_of(subject.models[0])
            told = {LETTERS[match[1]]: int(match[2]) for match in (side, head) if match[1] in LETTERS}
            if told and all(own.get(word) == value for word, value in told.items()):
                token = Token("num", cell.text, row.line, cell.start, cell.end)
                yield claim(
                    scene.lines, token, token, "configuration", "exact", value=max(told.values()), expected=max(told.values()), difference=0
                )


_GRID_SIZE = re.compile(r"\b([A-Z])\s*=\s*(\d+)")


def _families_sizes(scene: Scene) -> Iterator[Claim]:
    """Confirm the sizes that a row lists of a family: ``| Llama 3 | 8B, 70B |``; one that no member has is no error."""
    for table in scene.tables:
        kinds = [kind_of(head) for head in column_heads(table)]
        for row in table.rows if "total" in kinds else ():
            place = kinds.index("total")
            family = next((m for cell in row.cells[:3] for m in within(cell.text) if m.kind == FAMILY), None)
            cell = row.cells[place] if place < len(row.cells) else None
            if family is None or cell is None:
                continue
            for token in (t for t in tokens(cell.text, row.line) if t.kind == "num" and t.unit in ("m", "b")):
                models = [model for name in family.names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
                found = settle(token, models)
                if found is not None:
                    figure = token._replace(start=cell.start + token.start, end=cell.start + token.end)
                    yield totals.total_claim(scene, figure, found.verdict, found.expected, found.reason)


def check(scene: Scene, bound: Sequence[ModelTable]) -> Iterator[Claim]:
    """Hold the cells of tables of models against their models."""
    lines = {row.line for one in bound for row, *_ in one.cells}
    yield from (made for made in _families_sizes(scene) if made.line not in {scene.lines[line].number for line in lines})
    for one in bound:
        if is_grid(one.table):
            yield from _grid(scene, one.table)
        agreed = {id(row): 0 for row, *_ in one.cells}
        judged = []
        for row, cell, kind, subject, head in one.cells:
            if kind in SIZE_COLUMNS:
                right = words_of(subject.models[0]).get(kind)
                agreed[id(row)] += right is not None and right == whole_number(cell)
            judged.append((row, cell, kind, subject, head))
        judged = _rename_columns(judged)
        yield from _remarks(scene, one)
        doubtful = doubtful_kinds(scene, judged)
        judged = be_sure_of_family(scene, judged)
        for row, cell, kind, subject, head in judged:
            if kind == "part":
                yield from part_claims(scene, row, cell, subject, [other for other in judged if other[0] is row and other[2] == "total"])
            elif kind in SIZE_COLUMNS:
                yield from _size(scene, row, cell, kind, subject, sure=agreed[id(row)] >= 1)
            else:
                found = count_claims(scene, row, cell, kind, subject, head)
                yield from (made for made in found if made.verdict != "wrong" or kind not in doubtful or agreed[id(row)])


def _rename_columns(cells: Sequence[Judged]) -> list[Judged]:
    """Take a column for the size that it holds in every row, where its head names another: widths are called many things."""
    columns: dict[tuple[str, str], list[Judged]] = {}
    for one in cells:
        columns.setdefault((one[2], one[4]), []).append(one)
    other: dict[tuple[str, str], str] = {}
    for key, column in columns.items():
        told = [(whole_number(cell), words_of(subject.models[0])) for _, cell, _, subject, _ in column if whole_number(cell) is not None]
        if len(told) < LEAST_ROWS or key[0] not in SIZE_COLUMNS or any(own.get(key[0]) == value for value, own in told):
            continue
        other[key] = next((word for word in _CALLED_ALIKE if all(own.get(word) == value for value, own in told)), key[0])
    return [(row, cell, other.get((kind, head), kind), subject, head) for row, cell, kind, subject, head in cells]


_CALLED_ALIKE = ("hidden", "mlp", "head_dim", "heads", "kv_heads")


def _remarks(scene: Scene, bound: ModelTable) -> Iterator[Claim]:
    """Confirm sizes in the other cells of a model's row: ``| BERT-base | 110M | Encoder, 12 layers |``."""
    subjects = {row.line: subject for row, _, _, subject, _ in bound.cells}
    judged = {(row.line, cell.start) for row, cell, kind, _, _ in bound.cells if kind in SIZE_COLUMNS}
    for size in scene.stated:
        subject = subjects.get(size.token.line)
        if subject is None or any(line == size.token.line and start == size.token.start for line, start in judged):
            continue
        if any(words_of(model).get(size.word) == size.value for model in subject.models):
            yield claim(scene.lines, size.token, size.token, "configuration", "exact", value=size.value, expected=size.value, difference=0)


def _size(scene: Scene, row: Row, cell: Cell, kind: str, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    value = whole_number(cell)
    rights = [words_of(model).get(kind) for model in subject.models]
    if value is None:
        return
    token = Token("num", cell.text, row.line, cell.start, cell.end, Fraction(value))
    if value not in rights and any(value in field_values(model).get(kind, ()) for model in subject.models):
        yield claim(scene.lines, token, token, "configuration", "exact", value=value, expected=value, difference=0)
        return  # a size of one of the models that it is made of
    if rights[0] is None:
        return
    facts: dict[str, object] = {"value": value, "expected": rights[0], "difference": value - rights[0]}
    if value in rights:
        facts |= {"expected": value, "difference": 0}
        yield claim(scene.lines, token, token, "configuration", "exact", **facts)
    elif any(PRINTED.get((model.source, kind)) == value for model in subject.models):
        yield claim(scene.lines, token, token, "configuration", "note", **facts, reason=because(mark("as its paper prints it")))
    elif (
        subject.firm
        and (sure or _is_plain(subject.models, row, value))
        and (
            kind in ("layers", "hidden", "mlp", "vocab") or (sure and kind in ("heads", "kv_heads") and _is_no_size(subject.models, value))
        )
        and not (kind in ("layers", "heads") and _is_translator(subject.models[0]))
    ):
        reason = because(mark("should be {right}"), right=rights[0]) + because(
            mark("{what} of {name}"), what=Sentence(NAMES[kind]), name=subject.name
        )
        yield claim(scene.lines, token, token, "configuration", "wrong", **facts, reason=reason)


def _is_plain(models: Sequence[ModelValue], row: Row, value: int) -> bool:
    """Tell whether a row says nothing of its model but one size, which is none of the model's sizes whatever it is called."""
    return len(row.cells) == NAME_AND_SIZE and _is_no_size(models, value)


def _is_no_size(models: Sequence[ModelValue], value: int) -> bool:
    """Tell whether a number is none of the models' sizes, whatever it is called."""
    if any(model.description is None for model in models):
        return False
    sizes = {size for model in models if model.description for size in vars(model.description.sizes).values() if type(size) is int}
    return value not in sizes


def _is_translator(model: ModelValue) -> bool:
    """Tell whether a model has an encoder and a decoder: its layers may be counted in either or in both."""
    return model.description is not None and hasattr(model.description.sizes, "decoder_layers")
