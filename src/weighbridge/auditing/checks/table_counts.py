"""The counts in tables of models: totals, what works on a token, the parts of a model; and which of them the rows leave in doubt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks import wrong_counts
from weighbridge.auditing.checks.column_kinds import SIZE_COLUMNS
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import KEYS
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import OTHER_CONVENTION_PART, OTHER_CONVENTION_ROWS, SURE_ROWS
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.head_units import in_unit_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import scales
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS, SMALLEST_CLAIM
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from typing import TypeAlias

Judged: TypeAlias = tuple[Row, Cell, str, Subject, str]
"""A row, one of its cells, what that holds, its model, and the head of its column."""


def be_sure_of_family(scene: Scene, cells: Sequence[Judged]) -> list[Judged]:
    """Be sure of rows named by a size alone, where the counts of most rows are those of the family's members: then the others are meant so too."""
    cells = _firm_rows(scene, cells)
    column = [one for one in cells if one[2] == "total"]
    right = sum(count_fits(scene, cell, "total", subject, head) is True for _, cell, _, subject, head in column)
    if right < SURE_ROWS or right + 1 < len(column):
        return list(cells)
    return [
        (row, cell, kind, subject._replace(firm=True) if kind == "total" and not subject.firm else subject, head)
        for row, cell, kind, subject, head in cells
    ]


def _firm_rows(scene: Scene, cells: Sequence[Judged]) -> list[Judged]:
    """Be sure of a row named by a size alone where two of its figures, of two kinds, a count among them, are those of the family's member, and one at most is not."""
    right: dict[int, set[str]] = {}
    odd: Counter[int] = Counter()
    for _, cell, kind, subject, head in cells:
        if kind == "positions" or subject.firm or BYTES_OF_FILE.search(cell.text):
            continue
        if kind in SIZE_COLUMNS:
            value = whole_number(cell)
            fits = None if value is None else value in field_values(subject.models[0]).get(KEYS.get(kind, kind), ())
        else:
            fits = count_fits(scene, cell, kind, subject, head) if kind in ("total", "active") else None
        if fits:
            right.setdefault(id(subject), set()).add(kind)
        odd[id(subject)] += fits is False
    counted = {"total", "active"}  # CLIP's image tower has the sizes of a ViT, and another count
    firm = {key for key, kinds in right.items() if len(kinds) >= AGREED_FIELDS and odd[key] <= 1 and kinds & counted}
    sure = {id(one[3]): one[3]._replace(firm=True) for one in cells if id(one[3]) in firm}
    return [(row, cell, kind, sure.get(id(subject), subject), head) for row, cell, kind, subject, head in cells]


BYTES_OF_FILE = pattern(r"\d\s?[KMGT]i?B(?![a-z])")
"""A cell of bytes, which a column of sizes may hold too: it says nothing of the count."""


def doubtful_columns(scene: Scene, cells: Sequence[Judged]) -> dict[tuple[str, str], bool]:
    """Return the columns, by kind and head, whose counts most rows, or many, have otherwise than their models: it counts something else, or estimates.

    Of each it tells whether they are many: then it has a convention of its own, whatever else in a row is the model's.
    """
    found = {}
    for kind, head in {(kind, head) for _, _, kind, _, head in cells if kind not in (*SIZE_COLUMNS, "part")}:
        column = [one for one in cells if (one[2], one[4]) == (kind, head)]
        right = sum(count_fits(scene, cell, kind, subject, head) is True for _, cell, _, subject, _ in column)
        counts = sum(re.search(r"\d", cell.text) is not None for _, cell, *_ in column)
        many = counts - right >= OTHER_CONVENTION_ROWS and (counts - right) * OTHER_CONVENTION_PART >= counts
        if (counts > 1 and right * 2 < counts) or many:
            found[kind, head] = many
    return found


def count_fits(scene: Scene, cell: Cell, kind: str, subject: Subject, head: str) -> bool | None:
    """Tell whether the count in a cell is that of its row's models; None if there is none."""
    token = count_in(scene, cell, head)
    return None if token is None else settle(token, subject.models, kind, hedged=_is_hedged(cell), whole=True) is not None


def count_claims(scene: Scene, cell: Cell, kind: str, subject: Subject, head: str, *, sure: bool = False) -> Iterator[Claim]:
    """Hold the count in a cell against its row's models, in the unit that the cell or the head of its column says.

    Args:
        sure: Whether other cells of the row are the model's, so that a count is of it however far off it is.
    """
    token = count_in(scene, cell, head)
    if token is None:
        return
    settled = settle(token, subject.models, kind, hedged=_is_hedged(cell), whole=True)
    beside = _ACTIVE_BESIDE.search(cell.text, token.end - cell.start) if kind == "total" else None
    if beside is not None:
        start, end = beside.span("count" if beside["count"] else "later")
        named = cell._replace(text=cell.text[start:end], start=cell.start + start, end=cell.start + end)
        yield from count_claims(scene, named, "active", subject, head, sure=sure)
    if settled is not None:
        yield wrong_counts.total_claim(scene, token, settled.verdict, settled.expected, settled.reason)
    elif (
        subject.firm
        and token.unit not in BYTES
        and not _ESTIMATED.search(head)
        and len(scales(token))
        and not re.search(r"[-–/]\s*\d", cell.text[token.end - cell.start :])
    ):
        yield from wrong_counts.report_wrong_count(scene, token, subject, kind, sure=sure)


_ACTIVE_BESIDE = pattern(
    r"(?P<count>\d+(?:\.\d+)?\s?[BM])[\s-]?(?:个?(?:参数)?激活|activ|act\b)|(?:激活|active:?)\s?(?:参数)?[约为]?\s?(?P<later>\d+(?:\.\d+)?\s?[BM])",
    re.IGNORECASE,
)
"""Behind the total of a cell, what works on a token: ``671B (37B active)``."""


def count_in(scene: Scene, cell: Cell, head: str) -> Token | None:
    """Return the first figure of a cell, if it may be a count."""
    if not re.search(r"\d", cell.text):
        return None
    found = next((t for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit != "%"), None)
    if found is None or found.value is None:
        return None
    token = in_unit_of(found._replace(start=cell.start + found.start, end=cell.start + found.end), head)
    named = any(m.column <= token.start < m.end for m in scene.mentions.get(cell.line, ()))
    return None if named or (not token.unit and found.value < _LEAST_COUNT) else token


_LEAST_COUNT = 10_000
"""Parameters below which a whole number in a column of counts counts something else, or in a unit that is not said."""


def _is_hedged(cell: Cell) -> bool:
    return re.match(r"\W*[~≈约]", cell.text) is not None


_ESTIMATED = pattern(r"estimat|predict|approx|估算|估计|推算|预测|理论|theoretic|\^2|²", re.IGNORECASE)
"""The head of a column whose figures are somebody's estimates, and no claims of the model's count."""


def part_claims(scene: Scene, cell: Cell, subject: Subject, head: str, totals_of_row: Sequence[Judged]) -> Iterator[Claim]:
    """Confirm the count of a part of a model, an encoder or a tower, or of all the rest of it."""
    every = [in_unit_of(t, head) for t in tokens(cell.text, cell.line)]
    figures = [t for t in every if t.kind == "num" and t.value and t.unit != "%" and (t.unit or t.value > SMALLEST_CLAIM)]
    if len(figures) != 1:
        return
    token = figures[0]._replace(start=cell.start + figures[0].start, end=cell.start + figures[0].end)
    value = token.value or Exact(0)
    whole = [Exact(number) for _, other, *_ in totals_of_row if (number := whole_number(other)) is not None]
    rest = (token._replace(value=number - value, text="") for number in whole if number > value and not token.unit)
    found = settle(token, subject.models) or next((settled for one in rest if (settled := settle(one, subject.models)) is not None), None)
    if found is not None:
        reason = because(mark("a part of {name}"), name=Sentence(subject.name))
        yield wrong_counts.total_claim(scene, token, "exact" if not token.unit else "rounded", value * scales(token)[0], reason)
