"""Counts in tables of families: ``| GPT-2 | 2019 | 15 亿 |``, of which no member may have so many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.closed_families import report_no_member
from weighbridge.auditing.checks.column_kinds import column_heads, kinds_of
from weighbridge.auditing.checks.family_lists import is_closed
from weighbridge.auditing.checks.names import Mention, find_mentions
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import MOST_MEMBERS
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the counts of a table's families against all of their members; one that none has is wrong where another row has a member's."""
    if scene.given:
        return
    for table in scene.tables:
        counts = [(name, *one) for name, cell in _cells_of_counts(table) for one in _count(name, cell)]
        held = [(name, token, models, settle(token, models, hedged=True, whole=True)) for name, token, models in counts]
        fair = sum(found is not None for *_, found in held)
        for name, token, models, found in held if fair and fair + 1 >= len(held) else ():
            if name.kind != FAMILY:
                continue  # a model's row is held where its table is
            if found is not None:
                yield total_claim(scene, token, found.verdict, found.expected, found.reason)
            elif not _is_of_a_part(token, models):
                yield from report_no_member(scene, token, models)


def _is_of_a_part(token: Token, models: Sequence[ModelValue]) -> bool:
    """Tell whether a count is so small beside those of a family that something else is counted: what LoRA trains."""
    counts = [count for model in models if (count := own_count(model)) is not None]
    number = likeliest_value(token)
    return not counts or number is None or number * _PART < min(counts)


_PART = 4


def _cells_of_counts(table: Table) -> Iterator[tuple[Mention, Cell]]:
    """Yield the cells that give the counts of what another cell names and nothing more, in the rows or the columns of a table."""
    heads = column_heads(table)
    kinds = kinds_of(heads)
    if kinds.count("total") == 1:
        place = kinds.index("total")
        headless = re.search(r"\d", heads[place]) is not None  # of a table without a head the first row stands for it
        for row in (*table.head, *table.rows) if headless else table.rows:
            names = [name for cell in row.cells[:place] if (name := _only_name(cell.text)) is not None]
            if len(names) == 1 and place < len(row.cells):
                yield names[0], row.cells[place]
        return
    named = [_only_name(head) for head in heads[1:]]
    for row, kind in zip(table.rows, kinds_of([row.cells[0].text for row in table.rows]), strict=True):
        if kind == "total":
            yield from ((name, cell) for name, cell in zip(named, row.cells[1:], strict=False) if name is not None)


def _only_name(text: str) -> Mention | None:
    """Return the one model or family that a cell names, if it says nothing else but its year."""
    found = list(find_mentions(text))
    if len(found) != 1:
        return None
    rest = text[: found[0].column] + _YEAR.sub("", text[found[0].end :])
    return found[0] if not re.sub(r"[\W_]", "", rest) else None


_YEAR = pattern(r"[(（](?:19|20)\d{2}[^()（）]{0,8}[)）]")


def _count(name: Mention, cell: Cell) -> Iterator[tuple[Token, list[ModelValue]]]:
    """Yield the one count of a cell, and the models of a closed family that it may be of."""
    counts = [token for token in tokens(cell.text, cell.line) if token.kind == "num"]
    if (
        (is_closed(name) or name.kind == MODEL)
        and len(counts) == 1
        and counts[0].unit
        and is_count(counts[0])
        and _PLAIN.fullmatch(cell.text)
    ):
        token = counts[0]._replace(start=cell.start + counts[0].start, end=cell.start + counts[0].end)
        yield token, [model for one in name.names[:MOST_MEMBERS] if (model := preset_model(one)) is not None]


_PLAIN = pattern(
    r"[\s*_`]*(?:约为?|大约|最大|最高|可?达|up to|about|around|[~≈])?\s?\d[\d.,]*\s?(?:亿|万|[BMT]|million|billion|十亿|百万)?\s?(?:个?参数|param(?:eter)?s?)?[\s*_`]*",
    re.IGNORECASE,
)
"""A cell that holds a count and nothing more."""
