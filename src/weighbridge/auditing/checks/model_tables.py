"""Tables of models: rows are models and columns their sizes and counts, or the reverse; a grid of sizes is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks import listed_sizes, tower_sizes, towers, wrong_counts
from weighbridge.auditing.checks.column_kinds import SIZE_COLUMNS, column_heads, kind_of
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.names import find_mentions
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_grids import grid_claims
from weighbridge.auditing.checks.size_verdicts import KEYS, is_no_size, likeliest_length, size_claims
from weighbridge.auditing.checks.table_counts import (
    BYTES_OF_FILE,
    Judged,
    be_sure_of_family,
    count_claims,
    count_fits,
    count_in,
    doubtful_columns,
    part_claims,
)
from weighbridge.auditing.checks.table_subjects import ModelTable, is_grid
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import LEAST_ROWS, MOST_MEMBERS, NAME_AND_SIZE, SURE_COUNTS
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.lengths import read_length
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.presets.aliases import FAMILY


def _families_sizes(scene: Scene) -> Iterator[Claim]:
    """Confirm the sizes that a row lists of a family: ``| Llama 3 | 8B, 70B |``; one that no member has is no error."""
    for table in scene.tables:
        kinds = [kind_of(head) for head in column_heads(table)]
        for row in table.rows if "total" in kinds else ():
            place = kinds.index("total")
            family = next((m for cell in row.cells[:3] for m in find_mentions(cell.text) if m.kind == FAMILY), None)
            cell = row.cells[place] if place < len(row.cells) else None
            if family is None or cell is None:
                continue
            for token in (t for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit in ("m", "b")):
                models = [model for name in family.names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
                found = settle(token, models)
                if found is not None:
                    figure = token._replace(start=cell.start + token.start, end=cell.start + token.end)
                    yield wrong_counts.total_claim(scene, figure, found.verdict, found.expected, found.reason)


def check(scene: Scene, bound: Sequence[ModelTable]) -> Iterator[Claim]:
    """Hold the cells of tables of models against their models."""
    lines = {cell.line for one in bound for _, cell, *_ in one.cells}
    numbers = {scene.lines[line].number for line in lines}
    yield from (made for made in _families_sizes(scene) if made.line not in numbers)
    for one in bound:
        if is_grid(one.table):
            yield from grid_claims(scene, one.table)
        judged = be_sure_of_family(scene, _rename_columns(one.cells))
        sure = _sure_models(scene, judged)
        yield from _remarks(scene, one, sure)
        doubtful = doubtful_columns(scene, judged)
        totals: dict[int, list[Judged]] = {}
        for other in judged:
            if other[2] == "total":
                totals.setdefault(id(other[0]), []).append(other)
        for row, cell, kind, subject, head in judged:
            tower = towers.tower_of_head(head) if kind in ("part", *SIZE_COLUMNS) else None
            held = list(_of_tower(scene, cell, kind, subject, head, tower, sure=id(subject) in sure)) if tower is not None else []
            if held:
                yield from held
            elif kind == "part":
                yield from part_claims(scene, cell, subject, head, totals.get(id(row), ()))
            elif kind == "vocab" and _IN_THOUSANDS.search(head):
                continue
            elif kind in SIZE_COLUMNS:
                yield from _size(scene, row, cell, kind, subject, sure=id(subject) in sure)
                if kind == "heads" and (keys := _KV.search(cell.text)) is not None and (_KV_HEAD.search(head) or keys[2]):
                    token = Token("num", keys[1], cell.line, cell.start + keys.start(1), cell.start + keys.end(1), Fraction(keys[1]))
                    yield from size_claims(scene, token, "kv_heads", int(keys[1]), subject, sure=id(subject) in sure, plain=False)
            else:
                found = count_claims(scene, cell, kind, subject, head, sure=id(subject) in sure)
                of_many = doubtful.get((kind, head))
                yield from (made for made in found if made.verdict != "wrong" or of_many is None or (id(subject) in sure and not of_many))


def _of_tower(scene: Scene, cell: Cell, kind: str, subject: Subject, head: str, tower: str, *, sure: bool) -> Iterator[Claim]:
    """Hold a count or a size below the name of a tower, ``text_mparams`` or ``vision width``, against that tower of the row's model."""
    for model in subject.models:
        if kind == "part":
            token = count_in(scene, cell, head)
            found = list(towers.hold_count(scene, token, model, tower)) if token is not None else []
        else:
            value = whole_number(cell)
            token = Token("num", cell.text, cell.line, cell.start, cell.end, Fraction(value or 0))
            found = tower_sizes.hold_size(scene, token, model, tower, kind, sure=True) or [] if value is not None else []
        plain = [one for one in found if one.verdict != "wrong"]
        if plain or (found and sure and len({one.source for one in subject.models}) == 1):
            yield from plain or found
            return


def _sure_models(scene: Scene, cells: Sequence[Judged]) -> set[int]:
    """Return the subjects, by identity, of whose sizes and counts at least one is theirs, and as many as are not; one named in full with its own total is meant anyway."""
    right: Counter[int] = Counter()
    named: set[int] = set()
    told: Counter[int] = Counter()
    for _, cell, kind, subject, head in cells:
        if kind in SIZE_COLUMNS and (value := whole_number(cell)) is not None and kind != "positions":
            told[id(subject)] += 1
            right[id(subject)] += value in field_values(subject.models[0]).get(KEYS.get(kind, kind), ())
        elif kind in ("total", "active") and not BYTES_OF_FILE.search(cell.text):
            fits = count_fits(scene, cell, kind, subject, head)
            told[id(subject)] += fits is not None
            right[id(subject)] += fits is True
            if fits and kind == "total" and subject.firm:
                named.add(id(subject))
    sure = named | {key for key, number in right.items() if number and number * 2 >= told[key]}
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


_CALLED_ALIKE = ("hidden", "mlp", "head_dim", "heads", "kv_heads", "layers")


def _remarks(scene: Scene, bound: ModelTable, sure: Collection[int]) -> Iterator[Claim]:
    """Check sizes in the other cells of a model's row: ``| BERT-base | 110M | Encoder, 12 layers |``."""
    rows = {id(row): (row, subject) for row, _, _, subject, _ in bound.cells}
    judged = {(cell.line, cell.start) for _, cell, kind, _, _ in bound.cells if kind in SIZE_COLUMNS}
    subjects = {cell.line: subject for row, subject in rows.values() for cell in row.cells}
    partial = {i for i, head in enumerate(column_heads(bound.table)) if kind_of(head) == "other" and _OF_LAYERS.search(head)}
    for row, subject in rows.values():
        for cell in [cell for i, cell in enumerate(row.cells) if i not in partial] if not bound.columns else ():
            named = any(cell.start <= m.column < cell.end for m in scene.mentions.get(cell.line, ()))
            listed = listed_sizes.list_sizes(scene, cell.line, cell.start, cell.end, subject) if not named else []
            own = {one.item.kind for one in listed if one.own}
            if len(listed) > 1 or (listed and listed[0].item.kind != "total" and (cell.line, cell.start) not in judged):
                alike = len({one.item.kind for one in listed}) == 1 < len(listed)  # ``| Phi 1.5 & 2 | 1.3B, 2.7B |`` has several models
                fair = not alike and len(listed) < 2 * len(own) + 1 + (id(subject) in sure)
                settled = id(subject) in sure or len(own) >= AGREED_FIELDS  # ``| L=12, H=768, A=12 |`` says itself whose it is
                for one in listed:
                    yield from listed_sizes.hold(scene, one, subject, sure=fair and subject.firm and settled)
    stated = (
        (size, subject)
        for line, subject in sorted(subjects.items(), key=lambda one: one[0])
        for size in scene.stated_index.on.get(line, ())
    )
    for size, found in stated:
        if (size.token.line, size.token.start) in judged:
            continue
        if any(words_of(model).get(size.word) == size.value for model in found.models):
            yield claim(scene.lines, size.token, size.token, "configuration", "exact", value=size.value, expected=size.value, difference=0)


_OF_LAYERS = re.compile(r"[层头]数?")
"""In the head of a column that holds no size of the model, what makes its figures layers or heads all the same: ``卸载到 CPU 的层数``."""
_IN_THOUSANDS = re.compile(r"[(（\[]\s?k\s?[)）\]]", re.IGNORECASE)
"""The head of a column whose figures are of so many thousands, and rounded to them."""


def _size(scene: Scene, row: Row, cell: Cell, kind: str, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    for value, start, end in _values_in(cell, kind, subject):
        token = Token("num", cell.text[start:end], cell.line, cell.start + start, cell.start + end, Fraction(value))
        plain = sure or (len(row.cells) == NAME_AND_SIZE and is_no_size(subject.models, value))
        yield from size_claims(scene, token, kind, value, subject, sure=sure, plain=plain)


def _values_in(cell: Cell, kind: str, subject: Subject) -> Iterator[tuple[int, int, int]]:
    """Yield the whole number that a cell holds, with its place in the cell; of lengths, ``4K / 32K``, what they are."""
    if kind == "positions":
        place = 0
        for piece in _BETWEEN_LENGTHS.split(cell.text):
            start = cell.text.index(piece, place)
            place = start + len(piece)
            length = read_length(piece)
            if length is not None and length[0]:
                yield likeliest_length(length[0], subject.models), start + length[1], start + length[2]
        return
    halves = _HALVES.fullmatch(cell.text) if kind == "layers" else None
    if halves is not None:
        yield from ((int(halves[half]), *halves.span(half)) for half in (1, 2))
        return
    square = _SQUARE.fullmatch(cell.text) if kind in ("patch", "image") else None
    if square is not None:
        yield int(square[1]), *square.span(1)
        return
    routed = _ROUTED.fullmatch(cell.text) if kind == "experts" else None
    if routed is not None:
        yield int(routed[1]), *routed.span(1)
        return
    number = re.search(r"\d[\d,]*", cell.text)
    value = whole_number(cell)
    if number is not None and value is not None:
        yield value, *number.span()


_HALVES = pattern(r"[*` ]*(\d{1,3}) ?/ ?(\d{1,3})[*` ]*")
"""Layers of an encoder and of its decoder: ``12/12``."""
_ROUTED = pattern(r"[*` ]*(\d{1,3})\s?\+\s?\d[*` ]*")
"""Experts that tokens are routed to, with those that all of them pass: ``256+1``."""
_SQUARE = pattern(r"[*`\s(（]*(\d{1,4})\s?[×x*,]\s?\1[*`\s)）]*")
"""Two equal sides of a patch, or of a picture: ``14×14``."""
_BETWEEN_LENGTHS = pattern(r"[/→]|->|,(?!\d)|\(|\)")
_KV = pattern(r"\d\s*(?:Q )?[(（/]\s*(\d{1,3})\s*(KV)?(?: heads?)?\s*[)）]?$", re.IGNORECASE)
_KV_HEAD = pattern(r"kv|gqa|key", re.IGNORECASE)
"""A number of query heads with that of key-value heads beside it: ``32 (8)``, ``64 / 8`` below ``Heads (Q / KV)``."""
