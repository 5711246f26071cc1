"""Columns of a table that follow from each other, row by row: a total of its two parts, a share of two counts, bytes of a count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.row_bytes import bits_of_head, is_loose, is_nearly
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import RELATED_DIGITS, RELATED_ROWS
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.head_units import in_unit_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, scales, significant_digits, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES, UNITS
from weighbridge.auditing.text.tables import Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_WIDEST = 12
"""Columns of a table that are tried against each other."""
_LEAST_COUNT = 1000
_BYTE_HEAD = pattern(r"[(（\[ ](?P<unit>[KMG]i?B|bytes)\b", re.IGNORECASE)
_BITS = (32, 16, 8, 4)


class _Figure(NamedTuple):
    """The one figure of a cell, with what it may be between."""

    token: Token
    value: Fraction
    low: Fraction
    high: Fraction


class _Relation(NamedTuple):
    """What a figure of one column is, by those of others: its bounds, and how to say so; in bytes, by thousands or by powers of two."""

    target: int
    sources: tuple[int, ...]
    bounds: Callable[[Sequence[_Figure]], tuple[Fraction, Fraction]]
    reason: Reason
    decimal: bool = False


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Judge the figures of columns that follow from each other in most rows; a row that breaks it is wrong where the rest of it is sure.

    Args:
        scene: The text.
        claims: What is judged already: a figure that a model confirms is not the one to blame.
    """
    sure = ClaimSpans(one for one in claims if one.verdict in ("exact", "convention") or (one.verdict == "rounded" and not is_loose(one)))
    for table in scene.tables:
        if len(table.rows) <= RELATED_ROWS:
            continue
        rows = _figures(table)
        for relation in _relations(table, rows):
            yield from _hold(scene, rows, relation, sure)


def _figures(table: Table) -> list[dict[int, _Figure]]:
    heads = column_heads(table)
    found = []
    for row in table.rows:
        figures = {}
        for place, cell in enumerate(row.cells[:_WIDEST]):
            numbers = [token for token in tokens(cell.text, cell.line) if token.kind == "num" and token.value]
            if len(numbers) == 1 and place:
                token = _with_unit(numbers[0], heads[place] if place < len(heads) else "")
                moved = token._replace(start=cell.start + token.start, end=cell.start + token.end)
                figures[place] = _figure(moved, scales(token)[0])
        found.append(figures)
    return found


def _figure(token: Token, scale: Fraction) -> _Figure:
    return _Figure(token, (token.value or Exact(0)) * scale, *value_bounds(token, scale))


def _with_unit(token: Token, head: str) -> Token:
    if not token.unit and (unit := _BYTE_HEAD.search(head)) is not None:
        return token._replace(unit=unit["unit"].lower())
    if not token.unit and "%" in head:
        return token._replace(unit="%")
    return in_unit_of(token, head)


def _relations(table: Table, rows: Sequence[Mapping[int, _Figure]]) -> Iterator[_Relation]:
    columns = sorted({place for row in rows for place in row})
    heads = column_heads(table)
    kinds = {place: _kind([row[place] for row in rows if place in row]) for place in columns}
    counts = [place for place in columns if kinds[place] == "count"]
    for target in columns:
        others = [place for place in counts if place != target]
        if kinds[target] == "count":
            yield from (
                _Relation(target, pair, _sum, because(mark("two counts of the row add up to the third")))
                for pair in combinations(others, 2)
            )
        elif kinds[target] == "share":
            for part, of in ((one, other) for one in others for other in others if one != other):
                yield _Relation(target, (part, of), _share, because(mark("the share that the two counts of its row make")))
        elif kinds[target] == "bytes":
            headed = bits_of_head(heads[target] if target < len(heads) else "")
            for source in others:
                for bits in _BITS:
                    reason = because(mark("{bits} bits for each of the count of its row"), bits=bits)
                    yield _Relation(target, (source,), _bytes_of(bits), reason)
                    if bits == headed:
                        yield _Relation(target, (source,), _bytes_of(bits), reason, decimal=True)


def _kind(figures: Sequence[_Figure]) -> str:
    units = {figure.token.unit for figure in figures}
    if units == {"%"}:
        return "share"
    if units and units <= BYTES:
        return "bytes"
    large = sum(figure.value >= _LEAST_COUNT for figure in figures)
    return "count" if large * 2 > len(figures) and not units & BYTES else ""


def _sum(sources: Sequence[_Figure]) -> tuple[Fraction, Fraction]:
    return sum((one.low for one in sources), Exact(0)), sum((one.high for one in sources), Exact(0))


def _share(sources: Sequence[_Figure]) -> tuple[Fraction, Fraction]:
    part, of = sources
    return part.low / of.high, part.high / of.low


def _bytes_of(bits: int) -> Callable[[Sequence[_Figure]], tuple[Fraction, Fraction]]:
    return lambda sources: (sources[0].low * bits / 8, sources[0].high * bits / 8)


def _hold(scene: Scene, rows: Sequence[Mapping[int, _Figure]], relation: _Relation, sure: ClaimSpans) -> Iterator[Claim]:
    places = {relation.target, *relation.sources}
    told = [
        (
            _figure(row[relation.target].token, scales(row[relation.target].token)[-1]) if relation.decimal else row[relation.target],
            [row[place] for place in relation.sources],
        )
        for row in rows
        if places <= row.keys()
    ]
    fits = []
    misses = 0
    for figure, sources in told:
        fits.append(fit := _fits(figure, relation.bounds(sources)))
        misses += not fit
        if misses * 2 > len(told):
            return  # as for most columns
    telling = sum(fit and significant_digits(figure.token) >= RELATED_DIGITS for (figure, _), fit in zip(told, fits, strict=True))
    if telling < RELATED_ROWS or sum(not fit for fit in fits) * 2 > telling:
        return
    for (figure, sources), fit in zip(told, fits, strict=True):
        low, high = relation.bounds(sources)
        if (
            not fit
            and figure.token.unit in BYTES
            and (
                _is_near(figure, (low, high), sources, alone=fits.count(False) == 1 and telling > RELATED_ROWS)
                or is_nearly(scene.lines[figure.token.line].text, figure.token, (low + high) / 2)
            )
        ):
            continue
        if fit:
            plain = low == high and not figure.token.unit and not figure.token.places
            for one in (figure, *(sources if relation.bounds is _sum else ())):
                yield _claim(scene, one, "exact" if plain else "rounded", one.value, relation.reason)
            continue
        blamed = _to_blame(scene, figure, sources, relation, sure)
        if blamed is not None:
            one, right = blamed
            shown = write_bytes(one.token, right, 1000) if relation.decimal and one is figure else _write_like(one, right)
            yield _claim(scene, one, "wrong", right, because(mark("should be {right}"), right=shown) + relation.reason)


def _is_near(figure: _Figure, bounds: tuple[Fraction, Fraction], sources: Sequence[_Figure], *, alone: bool) -> bool:
    """Tell whether a figure in bytes may be meant for what its count makes: in another unit of its letters, or less than a part off where others are.

    A count that only names its model, ``7B``, is off by more.
    """
    ranges = (value_bounds(figure.token, Exact(scale)) for scale in UNITS[figure.token.unit])
    if any(bounds[0] <= end and begin <= bounds[1] for begin, end in ranges):
        return True
    middle, nominal = sum(bounds, Exact(0)) / 2, significant_digits(sources[0].token) < RELATED_DIGITS
    part = _PART_OFF_NOMINAL if nominal else _PART_OFF
    return (nominal or not alone) and abs(figure.value - middle) * part < middle


_PART_OFF, _PART_OFF_NOMINAL = 100, 6


def _fits(figure: _Figure, bounds: tuple[Fraction, Fraction]) -> bool:
    return bounds[0] <= figure.high and figure.low <= bounds[1]


def _to_blame(
    scene: Scene, figure: _Figure, sources: Sequence[_Figure], relation: _Relation, sure: ClaimSpans
) -> tuple[_Figure, Fraction] | None:
    """Return the figure that is wrong and what it should be: the only one that no model confirms, or the one that a digit mends."""

    def is_sure(one: _Figure) -> bool:
        return sure.holds(scene.lines[one.token.line].number, *_columns(scene, one.token))

    right = sum(relation.bounds(sources), Exact(0)) / 2
    doubtful = [one for one in (figure, *sources) if not is_sure(one)]
    if relation.bounds is _sum and is_sure(figure) and len(doubtful) == 1:
        return doubtful[0], figure.value - sum((one.value for one in sources if one is not doubtful[0]), Exact(0))
    alone = doubtful == [figure]
    return (
        (figure, right)
        if alone or (figure in doubtful and is_slip(_digits(figure.token.text), _digits(_write_like(figure, right))))
        else None
    )


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _write_like(figure: _Figure, number: Fraction) -> str:
    """Write a number as a figure is written, without its unit."""
    amount = number * figure.token.value / figure.value if figure.token.value and figure.value else number / scales(figure.token)[0]
    return f"{float(amount):,.{figure.token.places}f}" if figure.token.places or amount.denominator > 1 else f"{int(amount):,}"


def _columns(scene: Scene, token: Token) -> tuple[int, int]:
    at = scene.lines[token.line].at
    return at[token.start] if token.start < len(at) else 0, at[token.end - 1] + 1 if 0 < token.end <= len(at) else 0


def _claim(scene: Scene, figure: _Figure, verdict: str, right: Fraction, reason: Reason) -> Claim:
    value = likeliest_value(figure.token)
    facts = {"value": whole(value), "expected": whole(right), "difference": whole(figure.value - right), "reason": reason}
    return claim(scene.lines, figure.token, figure.token, "arithmetic", verdict, **facts)
