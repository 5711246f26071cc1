"""Sums that do not close: where all numbers of a breakdown are right but one, its total says what that one must be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from weighbridge.auditing.checks.column_sums import TOTAL, figure_of, is_sum
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import OPEN_PARTS, OPEN_RATIO
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole, write_like
from weighbridge.auditing.text.size_words import COUNTING
from weighbridge.auditing.thresholds import LARGE_NUMBER
from weighbridge.core.messages import mark

_RIGHT = frozenset(("exact", "rounded", "convention", "note", "carried"))


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check breakdowns whose parts do not add up to their total; the one number that nothing confirms is wrong.

    Args:
        claims: What is judged so far.
    """
    sums = [*_columns(scene), *_lists(scene)]
    if not sums:
        return
    right = ClaimSpans(one for one in claims if one.verdict in _RIGHT)
    wrong = ClaimSpans(one for one in claims if one.verdict == "wrong")
    for parts, total in sums:
        every = [*parts, total]
        if is_sum(total, parts) or any(_covers(scene, wrong, token) for token in every):
            continue
        odd = [token for token in every if not (_covers(scene, right, token) or (token is total and _is_the_models(scene, total)))]
        if len(odd) == 1 and len(parts) >= OPEN_PARTS:
            yield from _alarm(scene, odd[0], parts, total)


def _alarm(scene: Scene, odd: Token, parts: Sequence[Token], total: Token) -> Iterator[Claim]:
    said = _value(odd)
    added = sum((_value(part) for part in parts if part is not odd), Fraction(0))
    meant = added if odd is total else _value(total) - added
    if not said or meant <= 0 or _is_twice(said, meant):
        return
    shown = write_like(odd, meant) if odd.unit else whole(meant)
    mistyped = is_slip(*(_DIGITS.sub("", str(one)) for one in (odd.text, shown)))
    if not (mistyped or Fraction(1, OPEN_RATIO) < meant / said < OPEN_RATIO):
        return
    sentence = mark("the rows above add up to {right}") if odd is total else mark("the total leaves {right} for it")
    facts = {"value": whole(said), "expected": whole(meant), "difference": whole(said - meant), "reason": because(sentence, right=shown)}
    yield claim(scene.lines, odd, odd, "arithmetic", "wrong", **facts)


_DIGITS = pattern(r"\D")


def _is_twice(said: Fraction, meant: Fraction) -> bool:
    """Tell whether what is said is twice what closes the sum, or half of it: a table that is tied counts once, or for the head too."""
    return any(abs(one - 2 * other) * 20 < one for one, other in ((said, meant), (meant, said)))


def _is_the_models(scene: Scene, total: Token) -> bool:
    """Tell whether a total is the count of the model that its line is about."""
    model = scene.model_at(total.line, total.start)
    return model is not None and settle(total, [model], whole=True) is not None


def _value(token: Token) -> Fraction:
    return likeliest_value(token) or Fraction(0)


def _covers(scene: Scene, spans: ClaimSpans, token: Token) -> bool:
    line = scene.lines[token.line]
    if not 0 < token.end <= len(line.at):
        return False
    return spans.holds(line.number, line.at[token.start], line.at[token.end - 1] + 1)


def _columns(scene: Scene) -> Iterator[tuple[list[Token], Token]]:
    """Yield the parts and the total of each column that ends in one total."""
    for table in scene.tables:
        rows = [row for row in (*table.head, *table.rows) if row.cells]
        totals = [row for row in rows if TOTAL.search(row.cells[0].text.strip("*` "))]
        if len(totals) != 1 or totals[0] is not rows[-1] or any(_OF_ONE.search(cell.text) for row in rows[:-1] for cell in row.cells[:-1]):
            continue
        for column in range(1, len(rows[-1].cells)):
            every = [figure for row in rows if (figure := figure_of(row, column)) is not None]
            counted = [figure for figure in every if _counts(figure)]
            figures = every if len(counted) * 2 > len(every) else counted  # a class token's 768 is a part too
            if figures and figures[-1].line == rows[-1].cells[0].line:
                yield figures[:-1], figures[-1]


_OF_ONE = pattern(
    r"\b(?:per|each|every|one|single)[ -](?:layer|block|head|expert|token|module|encoder|decoder)|\beach\b|[×x*] ?\d+ ?(?:layers|blocks)\b|每一?(?:层|个|块)|单层|单个|一层",
    re.IGNORECASE,
)
"""What makes a row one of several, of which the total holds all: ``c_attn (per layer)``."""


def _lists(scene: Scene) -> Iterator[tuple[list[Token], Token]]:
    """Yield the results of lines that stand together, and that of the line below them that begins with its total."""
    tabled = {line for table in scene.tables for line in table.lines}
    last = {token.line: token for statement in scene.numbered for _, token in scene.figures_of(statement) if token.line not in tabled}
    block: list[Token] = []
    for line in sorted(last):
        token = last[line]
        if not _counts(token) or (block and line - block[-1].line > 1 + (not scene.lines[line - 1].text.strip())):
            block = []
        if not _counts(token):
            continue
        if TOTAL.search(scene.lines[line].text[: token.start].lstrip("*-• ")):
            if block and all(below.line - above.line <= _APART for above, below in pairwise([*block, token])):
                yield block, token
            block = []
        else:
            block = [*block, token]


_APART = 2
"""Lines from one item of a list to the next."""


def _counts(token: Token) -> bool:
    """Tell whether a number may count parameters."""
    if token.kind != "num" or not token.value:
        return False
    return token.unit in COUNTING if token.unit else not token.places and token.value >= LARGE_NUMBER // 100
