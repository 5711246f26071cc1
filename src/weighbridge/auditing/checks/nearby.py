"""Numbers that neighbouring lines explain: sums and products of what stands above them, shares of two counts, a figure in two units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import lcm

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, significant_digits, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES, WORK
from weighbridge.auditing.thresholds import BLOCK_LINES, CERTAIN_DIGITS, SAME_NUMBER, SHARE_REACH, SUM_DIGITS
from weighbridge.core.messages import mark

MOST = 9
"""Numbers of a block that are added up in every combination of neighbours."""
_TOTAL = pattern(r"total|sum|overall|altogether|总|合计|小计|共|per[- ]layer|每层|params?:|参数", re.IGNORECASE)
_TIMES = pattern(
    r"(?<![A-Za-z0-9_.,])(\d{1,4})\s?(?:×|x\b|\*)?\s?(?:layers?|blocks?|tokens?|层|个 ?token|encoder|decoder|transformer)", re.IGNORECASE
)
_BETWEEN = pattern(r"\s*(?:\(|[,，]? ?(?:or|i\.e\.,?|即|也就是|约|约为|about|roughly)|=|≈|/)+\s*(?:~|≈|约|about|即约)?\s*", re.IGNORECASE)


def check(scene: Scene) -> Iterator[Claim]:
    """Confirm numbers that their neighbours explain; none is called wrong, for other numbers may be meant."""
    figures = [[t for _, t in scene.figures_of(statement) if _is_figure(t)] for statement in scene.statements]
    for place, found in enumerate(figures):
        for token in found:
            yield from _restated_bytes(scene, token, found)
        if len(found) == 1:
            judged = _sum(scene, found[0], figures, place) or _product(scene, found[0], figures, place)
            if judged is not None:
                yield judged
    yield from _shares(scene, figures)


def _is_figure(token: Token) -> bool:
    if token.kind != "num" or not token.value or token.unit == "%" or token.unit in WORK:
        return False
    return bool(token.unit) or token.value >= 1000


def _figures_above(figures: Sequence[Sequence[Token]], place: int) -> list[Token]:
    """Return the lone figures of the lines above a place, the nearest last."""
    line = figures[place][0].line
    found: list[Token] = []
    for index in range(place - 1, -1, -1):
        if figures[index]:
            if line - figures[index][0].line > BLOCK_LINES or len(found) >= MOST:
                break
            found.append(figures[index][-1])
            line = min(line, figures[index][0].line + BLOCK_LINES)
    return found[::-1]


def _bounds(token: Token) -> tuple[Fraction, Fraction]:
    return value_bounds(token, scales(token)[0] if token.unit else Fraction(1))


def _sum(scene: Scene, token: Token, figures: Sequence[Sequence[Token]], place: int) -> Claim | None:
    """Explain a total by the numbers above it: a run of two and more that ends right above, or any two or three of them."""
    text = scene.lines[token.line].text
    if not _TOTAL.search(text[: token.start]) or significant_digits(token) < SUM_DIGITS:
        return None
    alike = [other for other in _figures_above(figures, place) if (other.unit in BYTES) == (token.unit in BYTES)]
    (_, low, high), *bounded = _whole_bounds([token, *alike])
    runs = [tuple(bounded[-length:]) for length in range(2, len(bounded) + 1)]
    exact = significant_digits(token) >= CERTAIN_DIGITS
    groups = chain(runs, combinations(bounded, 2), combinations(bounded, 3)) if exact else runs
    for group in groups:
        least = most = 0
        for _, lower, upper in group:
            least += lower
            most += upper
        if least <= high and low <= most and not (most - least) * 10 > high:
            reason = because(mark("the sum of {count} numbers above"), count=len(group))
            return _claim(scene, token, "arithmetic", "exact" if low == high == least == most else "rounded", reason)
    return None


def _product(scene: Scene, token: Token, figures: Sequence[Sequence[Token]], place: int) -> Claim | None:
    """Explain ``32 layers: 6.46 B`` by one of the numbers above, that many times."""
    before = scene.lines[token.line].text[: token.start]
    match = _TIMES.search(before.replace(",", ""))
    if match is None or significant_digits(token) < SUM_DIGITS:
        return None
    times, (low, high) = int(match[1]), _bounds(token)
    for other in reversed(_figures_above(figures, place)) if times > 1 else ():
        least, most = _bounds(other)
        if (other.unit in BYTES) == (token.unit in BYTES) and least * times <= high and low <= most * times:
            return _claim(scene, token, "arithmetic", "rounded", because(mark("{times} times the number above"), times=times))
    return None


def _restated_bytes(scene: Scene, token: Token, found: Sequence[Token]) -> Iterator[Claim]:
    """Confirm a figure in bytes that is said again, in another unit, right behind: ``114,688 bytes (112 KiB)``."""
    if token.unit not in BYTES:
        yield from _in_short(scene, token, found)
        return
    text = scene.lines[token.line].text
    for other in found:
        if other.unit not in BYTES or other.unit == token.unit or other.line != token.line or other.start <= token.end:
            continue
        if _BETWEEN.fullmatch(text, token.end, other.start):
            for scale in scales(token):
                low, high = value_bounds(token, scale)
                if any(a <= high and low <= b for s in scales(other) for a, b in (value_bounds(other, s),)):
                    yield _claim(scene, other, "total", "rounded", because(mark("the same in another unit")))
                    break


def _in_short(scene: Scene, token: Token, found: Sequence[Token]) -> Iterator[Claim]:
    """Hold a count in a unit against the whole number right before its parentheses: ``7,087,872 (7.09M)``."""
    text, number = scene.lines[token.line].text, likeliest_value(token)
    other = next((t for t in found if t.start > token.end and t.line == token.line), None)
    if token.unit in _SYSTEM and other is not None and number is not None:
        yield from _in_other_words(scene, token, other)
    if token.unit or token.places or number is None or other is None or not other.unit or other.unit in BYTES:
        return
    that_is = _THAT_IS.fullmatch(text, token.end, other.start) is not None and _STOPS.match(text, other.end) is not None
    if not that_is and (not _BETWEEN.fullmatch(text, token.end, other.start) or text[other.end : other.end + 1] not in (")", "）")):
        return
    agreed = fit(other, number)
    near = _is_near(number, other) or (that_is and number < 2 * (likeliest_value(other) or 0) < 4 * number)
    if agreed is not None:
        yield _claim(scene, other, "total", agreed.verdict, because(mark("the same in another unit")))
    elif significant_digits(token) >= CERTAIN_DIGITS and significant_digits(other) >= SUM_DIGITS and near:
        right, mine = whole(number), whole(likeliest_value(other))
        reason = because(mark("the number before it is {right}"), right=right)
        facts = {"value": mine, "expected": right, "difference": whole((likeliest_value(other) or 0) - number), "reason": reason}
        yield claim(scene.lines, other, other, "total", "wrong", **facts)


_THAT_IS = pattern(
    r"\s?个?(?:参数)?\s?[,，(（]\s?(?:也就是|即|大)?[约≈](?:[为是]|等于)?\s?|\s?个?(?:参数)?\s?[,，]\s?(?:也就是|即)\s?(?:大?约)?\s?"
)
_STOPS = pattern(r"\s?个?(?:参数)?\s?(?:[,，。;；)）]|\.(?!\d)|$)")
"""Around a whole number that is said again, rounded: ``参数量为 16226304，约为 16M。``"""
_SYSTEM = dict.fromkeys("k m b t bn mn million billion trillion".split(), "english") | dict.fromkeys(
    "万 亿 千万 百万 十亿 百亿 千亿 万亿".split(), "chinese"
)
"""Units of counting in which one says a number again for readers of the other language."""


def _in_other_words(scene: Scene, token: Token, other: Token) -> Iterator[Claim]:
    """Hold a count against the same in the units of the other language in parentheses right behind: ``131M (1.31亿)``."""
    text = scene.lines[token.line].text
    if _SYSTEM.get(other.unit, _SYSTEM[token.unit]) == _SYSTEM[token.unit] or _OPENED.fullmatch(text, token.end, other.start) is None:
        return
    if _CLOSED.match(text, other.end) is None:
        return
    (low, high), (least, most) = _bounds(token), _bounds(other)
    mine, right = likeliest_value(other) or Fraction(0), likeliest_value(token) or Fraction(0)
    facts = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    if low <= most and least <= high:
        yield claim(scene.lines, other, other, "total", "rounded", **facts, reason=because(mark("the same in another unit")))
    elif (
        abs(mine - right) * 20 > right
        and min(map(significant_digits, (token, other))) >= SUM_DIGITS
        and is_slip(_digits(mine), _digits(right))
    ):
        yield claim(
            scene.lines,
            other,
            other,
            "total",
            "wrong",
            **facts,
            reason=because(mark("the number before it is {right}"), right=whole(right)),
        )


_OPENED = pattern(r"\s?(?:个?参数)?\s?[(（]\s?(?:即|也就是|约|约为|≈)?\s?")
_CLOSED = pattern(r"\s?(?:个?参数|param(?:eter)?s?)?\s?[)）]", re.IGNORECASE)
"""Around a count that is said again in parentheses."""


def _digits(number: Fraction) -> str:
    return str(int(number))


def _is_near(number: Fraction, other: Token) -> bool:
    """Tell whether a figure is so near a number that it can only be meant for it, or a power of ten off with the same digits."""
    mine = likeliest_value(other) or Fraction(0)
    return any(abs(mine * power - number) <= number * SAME_NUMBER for power in (1, 10, Fraction(1, 10)))


def _shares(scene: Scene, figures: Sequence[Sequence[Token]]) -> Iterator[Claim]:
    """Confirm a share whose part and whole are two counts of the lines about it."""
    by_line: dict[int, list[Token]] = {}
    for figure in (figure for group in figures for figure in group if figure.unit not in BYTES):
        by_line.setdefault(figure.line, []).append(figure)
    for statement in scene.numbered:
        for _, token in scene.figures_of(statement):
            if token.kind != "num" or token.unit != "%" or not token.value or token.value >= 100 or significant_digits(token) < SUM_DIGITS:
                continue
            near = [t for line in range(token.line - SHARE_REACH, token.line + SHARE_REACH + 1) for t in by_line.get(line, ())]
            half = Fraction(1, 2 * 10**token.places)
            above, below = (token.value + half) / 100, (token.value - half) / 100
            for (_, least, most), (every, low, high) in combinations(_whole_bounds(sorted(near, key=_size)[-MOST:]), 2):
                if (
                    low
                    and least * above.denominator <= high * above.numerator
                    and low * below.numerator <= most * below.denominator
                    and most * 100 < least * 102
                ):
                    facts: Reason = because(mark("of {whole}"), whole=likeliest_value(every))
                    yield _claim(scene, token, "share", "rounded", facts)
                    break


def _size(token: Token) -> Fraction | int:
    return likeliest_value(token) or 0


def _whole_bounds(figures: Sequence[Token]) -> list[tuple[Token, int, int]]:
    """Return each figure with the numbers that it may stand for, as whole numbers over one denominator: hundreds of pairs are tried."""
    bounded = [(figure, *_bounds(figure)) for figure in figures]
    shared = lcm(*(bound.denominator for _, *both in bounded for bound in both))
    return [
        (figure, low.numerator * (shared // low.denominator), high.numerator * (shared // high.denominator))
        for figure, low, high in bounded
    ]


def _claim(scene: Scene, token: Token, kind: str, verdict: str, reason: Reason) -> Claim:
    number = token.value if token.unit == "%" else likeliest_value(token)
    return claim(scene.lines, token, token, kind, verdict, value=whole(number), expected=whole(number), difference=0, reason=reason)
