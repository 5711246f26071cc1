"""Tables of models: rows are models and columns their sizes and counts, or the reverse; a grid of sizes is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from weighbridge.auditing.checks import totals
from weighbridge.auditing.checks.fields import TITLES
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values, is_padded, main_values
from weighbridge.auditing.checks.names import within
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.results import is_slip
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
from weighbridge.auditing.thresholds import LEAST_ROWS, MOST_MEMBERS, NAME_AND_SIZE, SURE_COUNTS, TOKENIZER_SHORT
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
                token = Token("num", cell.text, cell.line, cell.start, cell.end)
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
            for token in (t for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit in ("m", "b")):
                models = [model for name in family.names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
                found = settle(token, models)
                if found is not None:
                    figure = token._replace(start=cell.start + token.start, end=cell.start + token.end)
                    yield totals.total_claim(scene, figure, found.verdict, found.expected, found.reason)


def check(scene: Scene, bound: Sequence[ModelTable]) -> Iterator[Claim]:
    """Hold the cells of tables of models against their models."""
    lines = {cell.line for one in bound for _, cell, *_ in one.cells}
    yield from (made for made in _families_sizes(scene) if made.line not in {scene.lines[line].number for line in lines})
    for one in bound:
        if is_grid(one.table):
            yield from _grid(scene, one.table)
        judged = _rename_columns(one.cells)
        sure = _sure_models(scene, judged)
        yield from _remarks(scene, one)
        doubtful = doubtful_kinds(scene, judged)
        judged = be_sure_of_family(scene, judged)
        for row, cell, kind, subject, head in judged:
            if kind == "part":
                yield from part_claims(scene, row, cell, subject, [other for other in judged if other[0] is row and other[2] == "total"])
            elif kind in SIZE_COLUMNS:
                yield from _size(scene, row, cell, kind, subject, sure=id(subject) in sure)
            else:
                found = count_claims(scene, row, cell, kind, subject, head, sure=id(subject) in sure)
                yield from (made for made in found if made.verdict != "wrong" or kind not in doubtful or id(subject) in sure)


def _sure_models(scene: Scene, cells: Sequence[Judged]) -> set[int]:
    """Return the subjects, by identity, of whose sizes and counts at least one is theirs, and as many as are not."""
    right: Counter[int] = Counter()
    told: Counter[int] = Counter()
    for row, cell, kind, subject, head in cells:
        if kind in SIZE_COLUMNS and (value := whole_number(cell)) is not None and kind != "positions":
            told[id(subject)] += 1
            right[id(subject)] += value in field_values(subject.models[0]).get(_KEYS.get(kind, kind), ())
        elif kind == "total":
            made = list(count_claims(scene, row, cell, kind, subject, head))
            told[id(subject)] += bool(made)
            right[id(subject)] += any(one.verdict != "wrong" for one in made)
    sure = {key for key, number in right.items() if number and number * 2 >= told[key]}
    totals_told = {id(subject): subject for _, cell, kind, subject, _ in cells if kind == "total" and re.search(r"\d", cell.text)}
    confirmed = sum(key in sure for key in totals_told)
    return sure | set(totals_told) if confirmed >= SURE_COUNTS and confirmed * 2 > len(totals_told) else sure


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
    subjects = {cell.line: subject for row, _, _, subject, _ in bound.cells for cell in row.cells}
    judged = {(cell.line, cell.start) for _, cell, kind, _, _ in bound.cells if kind in SIZE_COLUMNS}
    for size in scene.stated:
        subject = subjects.get(size.token.line)
        if subject is None or any(line == size.token.line and start == size.token.start for line, start in judged):
            continue
        if any(words_of(model).get(size.word) == size.value for model in subject.models):
            yield claim(scene.lines, size.token, size.token, "configuration", "exact", value=size.value, expected=size.value, difference=0)


def _size(scene: Scene, row: Row, cell: Cell, kind: str, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    word = _KEYS.get(kind, kind)
    for value, start, end in _values_in(cell, kind):
        token = Token("num", cell.text[start:end], cell.line, cell.start + start, cell.start + end, Fraction(value))
        rights = [main_values(model).get(word, words_of(model).get(word)) for model in subject.models]
        known = [field_values(model).get(word, frozenset()) for model in subject.models]
        lengths = {value, value // 1024 * 1000} if kind == "positions" else {value}
        if value in rights or any(lengths & values for values in known):
            facts: dict[str, object] = {"value": value, "expected": value, "difference": 0}
            yield claim(scene.lines, token, token, "configuration", "exact", **facts)
            continue  # a size of the model, or of one of the models that it is made of
        if rights[0] is None:
            continue
        facts = {"value": value, "expected": rights[0], "difference": value - rights[0]}
        if any(PRINTED.get((model.source, kind)) == value for model in subject.models):
            yield claim(scene.lines, token, token, "configuration", "note", **facts, reason=because(mark("as its paper prints it")))
        elif (
            subject.firm
            and (sure or _is_plain(subject.models, row, value))
            and (kind in _PLAIN or (sure and _is_no_size(subject.models, value)))
            and not _may_be_otherwise(subject.models[0], kind, value, rights[0])
        ):
            reason = because(mark("should be {right}"), right=rights[0]) + because(
                mark("{what} of {name}"), what=Sentence(TITLES[word]), name=subject.name
            )
            yield claim(scene.lines, token, token, "configuration", "wrong", **facts, reason=reason)


_PLAIN = ("layers", "hidden", "mlp", "vocab")
"""Sizes that have one name; a number of heads may be of another kind of heads."""
_KEYS = {"active_experts": "active"}


def _values_in(cell: Cell, kind: str) -> Iterator[tuple[int, int, int]]:
    """Yield the whole number that a cell holds, with its place in the cell; of a length in thousands, what they are."""
    text = cell.text
    number = re.search(r"\d[\d,]*", text)
    if number is None:
        return
    value = whole_number(cell)
    if value is not None:
        yield value, *number.span()
    elif kind == "positions" and (thousands := _THOUSANDS.fullmatch(text)) is not None:
        yield int(thousands[1]) * (1024 * 1024 if thousands[2] in "Mm" else 1024), *thousands.span()


_THOUSANDS = re.compile(r"[~≈]?(\d{1,4})\s?([kKmM])(?: tokens?)?")


def _may_be_otherwise(model: ModelValue, kind: str, value: int, right: int) -> bool:
    """Tell whether a size may well be given otherwise than the model has it: a tokenizer's entries, a shorter input."""
    if kind == "vocab":
        round_off = value % 1000 == 0 and abs(value - right) * 20 <= right
        return is_padded(value, right) or is_padded(right, value) or round_off or 0 < right - value <= TOKENIZER_SHORT
    if kind == "positions":
        return value % 64 == 0 or not is_slip(str(value), str(right))
    if kind == "head_dim":
        return "kv_lora" in main_values(model) or len(field_values(model)["head_dim"]) > 1
    return kind == "shared"


def _is_plain(models: Sequence[ModelValue], row: Row, value: int) -> bool:
    """Tell whether a row says nothing of its model but one size, which is none of the model's sizes whatever it is called."""
    return len(row.cells) == NAME_AND_SIZE and _is_no_size(models, value)


def _is_no_size(models: Sequence[ModelValue], value: int) -> bool:
    """Tell whether a number is none of the models' sizes, whatever it is called."""
    if any(model.description is None for model in models):
        return False
    sizes = {size for model in models if model.description for size in vars(model.description.sizes).values() if type(size) is int}
    return value not in sizes
