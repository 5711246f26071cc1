"""Counts with their share beside them, as headings and breakdowns have them: ``Embeddings  23,837,184 · 21.8%``.

Where most such pairs of a text are shares of one total, a pair that is not has an error in it; and a count that
stands nowhere else, but for one digit in its own section, is that number mistyped.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.thresholds import APPORTIONED
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

LEAST, MOST_ODD = 4, Fraction(3, 10)
"""How many pairs must agree on a total, and how many may not: a breakdown has more than three parts, and few errors."""


class Pair(NamedTuple):
    """A count and the share beside it; *computed* where the count is the result of an equation, which proves it."""

    number: Token
    share: Token
    computed: bool = False


def check(scene: Scene) -> Iterator[Claim]:
    """Check every count with a share beside it against the total that most of them are shares of."""
    pairs = [pair for statement in scene.numbered for pair in _pairs(statement, scene.figures_of(statement))]
    if len(pairs) < LEAST:
        return
    layers = {size for sizes in scene.sizes.values() if isinstance(size := sizes.get("layers"), int)}
    repeats = sorted({1, *layers, *(size - 1 for size in layers if size > 2)})
    totals = [int(number) for number in sorted(scene.numbers, reverse=True)[:200] if number.denominator == 1]
    true_of = [_true_of(pair, repeats) for pair in pairs]
    agreed, plain = _count_agreed(totals, true_of)
    total = max(totals, key=lambda number: (agreed[number], plain[number]), default=None)
    if total is None or agreed[total] < LEAST or len(pairs) - agreed[total] > MOST_ODD * len(pairs):
        return
    times: dict[Fraction, int] = {}
    for statement in scene.numbered:
        for _, token in scene.figures_of(statement):
            if token.kind == "num" and token.value is not None:
                times[token.value] = times.get(token.value, 0) + 1
    others = cache(lambda: [count for model in scene.models.values() if (count := own_count(model))])
    headed = _head_counts(scene)
    for pair, stretches in zip(pairs, true_of, strict=True):
        agrees = any(total in stretch for stretch in stretches)
        above = next((number for line, number in reversed(headed) if line <= pair.share.line), total)
        if not agrees and above in stretches[0]:
            yield from _judge(scene, pair, Fraction(above), times, agrees=True)
        elif agrees or not any(count in stretches[0] for count in others()):  # else a share of another model that the text names
            yield from _judge(scene, pair, Fraction(total), times, agrees=agrees)


def _count_agreed(totals: Sequence[int], true_of: Sequence[Sequence[range]]) -> tuple[Counter[int], Counter[int]]:
    """Return how many pairs may be shares of each total, and how many may be so without copies; a pair is a share of few of them."""
    order = sorted(totals)
    agreed: Counter[int] = Counter()
    plain: Counter[int] = Counter()
    for stretches in true_of:
        within = [order[bisect_left(order, stretch.start) : bisect_left(order, stretch.stop)] for stretch in stretches]
        agreed.update({total for found in within for total in found})
        plain.update(within[0])
    return agreed, plain


_HEAD = pattern(r"(?<![\d,.])(\d{1,3}(?:,\d{3})+) (?:parameters|个?参数)\s*$")


def _head_counts(scene: Scene) -> list[tuple[int, int]]:
    """Return the lines that end in a count of parameters, as the head of a derivation does, each with that count."""
    return [
        (index, int(found[1].replace(",", ""))) for index, line in enumerate(scene.lines) if (found := _HEAD.search(line.text[-_TAIL:]))
    ]


_TAIL = 40
"""Characters of a line in which such a count stands."""


def _pairs(statement: Sequence[Token], figures: Sequence[tuple[int, Token]]) -> Iterator[Pair]:
    for index, token in figures:
        if token.unit != "%" or index < 2:
            continue
        before = statement[index - 2]
        beside = statement[index - 1].text in ("·", "(", "|")
        if beside and before.kind == "num" and before.line == token.line and _is_plain(before):
            yield Pair(before, token, computed=index > 2 and statement[index - 3].text == "=")


def _is_plain(token: Token) -> bool:
    return token.value is not None and not token.unit and not token.places and token.value >= 10


def _true_of(pair: Pair, repeats: Sequence[int]) -> list[range]:
    """Return, for each number of copies, the totals of which that many times the count are the share, as exactly as it is written."""
    assert pair.number.value is not None
    assert pair.share.value is not None
    slack = APPORTIONED / 10**pair.share.places
    least, most = pair.share.value - slack, pair.share.value + slack
    counts = [int(pair.number.value) * times * 100 for times in repeats]  # the count is a whole number
    first = [count * most.denominator // most.numerator + 1 for count in counts]
    last = [-(-count * least.denominator // least.numerator) if least > 0 else sys.maxsize for count in counts]
    return [range(*ends) for ends in zip(first, last, strict=True)]


def _judge(scene: Scene, pair: Pair, total: Fraction, times: dict[Fraction, int], *, agrees: bool) -> Iterator[Claim]:
    count, share, computed = pair
    assert count.value is not None
    alone = times.get(count.value, 0) == 1
    written = str(int(count.value))
    meant = (n for n in times if n != count.value and n.denominator == 1 and n >= 10 and is_slip(written, str(int(n))))
    if alone and not computed and (right := next(meant, None)):
        reason = because(mark("the section itself comes to {right}"), right=right)
        facts = {"value": whole(count.value), "expected": whole(right), "difference": whole(count.value - right)}
        yield claim(scene.lines, count, count, "component", "wrong", **facts, reason=reason)
    elif agrees:
        facts = {"value": share.value, "expected": share.value, "difference": 0}
        yield claim(scene.lines, share, share, "share", "rounded", **facts, reason=because(mark("of {whole}"), whole=total))
    elif not agrees and (computed or not alone):
        right = round(count.value * 100 / total, 1)
        reason = because(mark("{number} of {whole} is {share}%"), number=count.value, whole=total, share=f"{float(right):.1f}")
        facts = {"value": share.value, "expected": right, "difference": (share.value or Fraction(0)) - right}
        yield claim(scene.lines, share, share, "share", "wrong", **facts, reason=reason)
