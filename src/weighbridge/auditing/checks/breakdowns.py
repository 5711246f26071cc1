"""Breakdowns in which rows add up to rows below them, and these to a total: the one number that breaks the sums, or the shares beside them, is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.table_thresholds import LEAST_SUMS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_COUNT = re.compile(r"[\s*`~|]*(?P<number>\d{1,3}(?:,\d{3})+|\d{1,15})[\s*`|]*")
_SHARE = re.compile(r"[\s*`~|(]*(?P<number>\d{1,3}\.\d{1,6})\s?%?[\s*`|)]*")
_OF_SHARES = re.compile(r"ratio|share|percent|%|fraction|占比|比例", re.IGNORECASE)
_MOST_ROWS, _LEAST_ROWS, _MOST_PARTS = 60, 5, 12
_MOST_TIMES = 256
_LEAST_TOTAL = 1000
"""Small numbers add up by chance."""


class _Row(NamedTuple):
    """A row's count and its share, if it has one, with their cells."""

    number: int
    cell: Cell
    share: Fraction | None
    beside: Cell | None


def check(scene: Scene, held: Mapping[str, ReferenceCounts]) -> Iterator[Claim]:
    """Check every table of counts that add up, row by row, to its last.

    Args:
        held: What the model of the text holds: of two numbers that may be the slip, the one is that would be its own.
    """
    times = {value for word, value in scene.stated_index.values if word == "layers" and 1 < value <= _MOST_TIMES}
    for table in scene.tables:
        rows = _rows(table)
        if not _LEAST_ROWS <= len(rows) <= _MOST_ROWS or rows[-1].number < _LEAST_TOTAL:
            continue
        counts = [row.number for row in rows]
        slip: tuple[int, int] | None = None
        if not _closes(counts, times):
            slip = _slip(rows, times, held)
            if slip is None:
                continue  # no breakdown, or any of several numbers may be the one that is wrong
            counts[slip[0]] = slip[1]
        yield from _claims(scene, rows, counts, slip)


def _slip(rows: Sequence[_Row], times: Collection[int], held: Mapping[str, ReferenceCounts]) -> tuple[int, int] | None:
    """Return the one row that is not what it is meant to be, and that; of several that may be, the one that its share refutes, or that would be the model's."""
    counts = [row.number for row in rows]
    follows = _follow(counts, times)[1]
    if not follows:
        return None  # as in most tables
    meant = {(place, value) for place in range(len(counts)) if place not in follows for value in _corrections(counts, place, times)}
    if len(meant) > 1:
        meant = {one for one in meant if _is_by_shares(rows, *one)} or meant
    if len(meant) > 1:
        meant = {one for one in meant if _is_models(held, one[1]) and not _is_models(held, counts[one[0]])}
    return next(iter(meant)) if len(meant) == 1 else None


def _is_models(held: Mapping[str, ReferenceCounts], count: int) -> bool:
    own = held.get("")
    return own is not None and (count in own.tensors or count in own.numbers)


def _is_by_shares(rows: Sequence[_Row], place: int, value: int) -> bool:
    """Tell whether the shares beside the counts, if there are any, allow that one row is meant to be another number, and refute it as it is."""
    total = value if place == len(rows) - 1 else rows[-1].number
    if rows[place].share is None:
        return False
    return _is_share(rows[place], value, total) and not _is_share(rows[place], rows[place].number, total)


def _rows(table: Table) -> list[_Row]:
    """Return the rows that state a whole number, the first behind their label, up to the row of the whole."""
    heads = column_heads(table)
    width = max((len(row.cells) for row in table.rows), default=0)
    place = next(
        (
            i
            for i in range(1, width)
            if sum(_COUNT.fullmatch(row.cells[i].text) is not None for row in table.rows if i < len(row.cells)) * 4 > 3 * len(table.rows)
        ),
        None,
    )
    beside = next((i for i in range(1, width) if i != place and i < len(heads) and _OF_SHARES.search(heads[i])), None)
    found: list[_Row] = []
    if place is None:
        return found
    for row in table.rows:
        match = _COUNT.fullmatch(row.cells[place].text) if place < len(row.cells) else None
        if match is None:
            continue
        cell = row.cells[beside] if beside is not None and beside < len(row.cells) else None
        share = _SHARE.fullmatch(cell.text) if cell is not None else None
        found.append(
            _Row(
                int(match["number"].replace(",", "")),
                _part(row.cells[place], match),
                Fraction(share["number"]) if share else None,
                _part(cell, share) if cell and share else None,
            )
        )
    return found


def _part(cell: Cell, match: re.Match[str]) -> Cell:
    return Cell(match["number"], cell.start + match.start("number"), cell.start + match.end("number"), cell.line)


def _closes(counts: Sequence[int], times: Collection[int]) -> bool:
    """Tell whether rows follow from those right above them, at least two do, and the last from all that are left."""
    stack, derived = _follow(counts, times)
    return len(derived) >= LEAST_SUMS and len(stack) == 1 and len(counts) - 1 in derived


def _follow(counts: Sequence[int], times: Collection[int]) -> tuple[list[int], set[int]]:
    """Return what is left of rows once those that follow from others have taken their place, and which do."""
    stack: list[int] = []
    derived = set()
    for place, count in enumerate(counts):
        parts = _parts(stack, count, times, last=place == len(counts) - 1)
        if parts:
            del stack[-parts:]
            derived.add(place)
        stack.append(count)
    return stack, derived


def _parts(stack: Sequence[int], count: int, times: Collection[int], *, last: bool = False) -> int:
    """Return how many of the numbers on top of a stack a count follows from: their sum, or some copies of the one above."""
    if stack and stack[-1] > 0 and count % stack[-1] == 0 and count // stack[-1] in times:
        return 1
    total, fitting = 0, 0
    for parts in range(1, min(len(stack), _MOST_PARTS) + 1):
        total += stack[-parts]
        if parts > 1 and total == count and not (fitting and not last):
            fitting = parts
    return fitting


def _corrections(counts: Sequence[int], place: int, times: Collection[int]) -> Iterator[int]:
    """Yield what one row would have to be for all to add up, where that is the row but for a slip of the keys."""
    for value in sorted(_candidates(counts, place, times)):
        if (
            value != counts[place]
            and is_slip(str(counts[place]), str(value))
            and _closes([*counts[:place], value, *counts[place + 1 :]], times)
        ):
            yield value


def _candidates(counts: Sequence[int], place: int, times: Collection[int]) -> set[int]:
    """Return what a row may be by the rows around it: the sum of some above it, or what is missing in a sum below it."""
    found: set[int] = set()
    stacks = _follow([*counts[:place], 0], times)[0][:-1]
    total = 0
    for parts, number in enumerate(reversed(stacks), 1):
        total += number
        if parts > 1:
            found.add(total)
    if stacks:
        found |= {stacks[-1] * time for time in times}
    for below in range(place + 1, min(len(counts), place + 1 + _MOST_PARTS)):
        between = _follow([*counts[place + 1 : below], 0], times)[0][:-1]
        rest = counts[below] - sum(between)
        found.add(rest)
        for number in reversed(stacks[-_MOST_PARTS:]):
            rest -= number
            found.add(rest)
        found |= {counts[below] // time for time in times if counts[below] % time == 0}
    return {value for value in found if value > 0}


def _claims(scene: Scene, rows: Sequence[_Row], counts: Sequence[int], slip: tuple[int, int] | None) -> Iterator[Claim]:
    """Yield the claims of a breakdown whose counts are known, and of the shares of its total beside them."""
    for place, row in enumerate(rows):
        token = Token("num", row.cell.text, row.cell.line, row.cell.start, row.cell.end, Fraction(row.number))
        right = counts[place]
        wrong = slip is not None and slip[0] == place
        direction = should_be(is_higher=row.number > right)
        reason = because(direction, right=right, number=abs(row.number - right)) if wrong else because(mark("the rows of the table add up"))
        facts: dict[str, object] = {"value": row.number, "expected": right, "difference": row.number - right, "reason": reason}
        yield claim(scene.lines, token, token, "arithmetic", "wrong" if wrong else "exact", **facts)
    total = counts[-1]
    shared = [(row, count) for row, count in zip(rows, counts, strict=True) if row.share is not None and row.beside is not None]
    agreed = [_is_share(row, count, total) for row, count in shared]
    if len(shared) < _LEAST_ROWS or agreed.count(False) > 1:
        return
    for (row, count), agrees in zip(shared, agreed, strict=True):
        assert row.beside is not None
        assert row.share is not None
        token = Token("num", row.beside.text, row.beside.line, row.beside.start, row.beside.end, row.share, "%", _places(row))
        right_share = Fraction(100 * count, total)
        shown = f"{float(right_share):.{_places(row)}f}"
        reason = (
            because(mark("of {whole}"), whole=total)
            if agrees
            else because(mark("{number} of {whole} is {share}%"), number=count, whole=total, share=shown)
        )
        facts = {"value": row.share, "expected": Fraction(shown), "difference": row.share - Fraction(shown), "reason": reason}
        yield claim(scene.lines, token, token, "share", "rounded" if agrees else "wrong", **facts)


def _places(row: _Row) -> int:
    assert row.beside is not None
    return len(row.beside.text.partition(".")[2])


def _is_share(row: _Row, count: int, total: int) -> bool:
    assert row.share is not None
    return bool(abs(row.share - Fraction(100 * count, total)) * 10 ** _places(row) <= 1)
