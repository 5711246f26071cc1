"""Key-value caches by the numbers beside them: layers, heads and widths give the bytes of a token, the bytes of a token those of a context and of a batch.

``80 layers, 8 KV heads of 128, fp16: 320 KB a token, 10 GB for a 32K context``: a figure that is one digit off all that these multiply to is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.cache_figures import ONE_TOKEN, CacheFigure, figures_of_line
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.token_rates import REACH, TokenRate, rate_by_model, rate_by_sizes, rate_of_figure
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark

_CACHE = pattern(r"\bkv\b|k/v|key.?value|cach(?:e|es|ing)\b|缓存|键值", re.IGNORECASE)
_LONGEST, _AGREED = 1_200, 2
_LONG = 24
"""Lines of a list of lengths that are compared with each other."""
_Way = tuple[CacheFigure, "list[tuple[Fraction, Fraction]]", bool]
"""A figure, between which numbers it may be, and whether sizes say so."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the caches of a text whose sizes, or whose bytes of a token, stand beside them."""
    shaped: TokenRate | None = None
    said: TokenRate | None = None
    cached = -REACH - 1
    held: list[_Way] = []
    for index, line in enumerate(scene.lines):
        text = line.text
        if line.heading or scene.mentions.get(index):
            said = None
        cached = index if _CACHE.search(text) else cached
        if len(text) > _LONGEST or not any(char.isdigit() for char in text):
            continue
        sized, named = rate_by_sizes(scene, index), rate_by_model(scene, index)
        width = sized if named in (None, sized) else None if sized else named  # sizes that are not the model's are of another, or a slip
        column = scene.mentions[index][0].column if width and not sized else 0
        shaped = TokenRate(index, width, width, column) if width else None if scene.mentions.get(index) or sized else shaped
        for figure in figures_of_line(scene, index) if index - cached <= REACH or shaped is not None else ():
            if sum(m.end <= figure.start for m in scene.mentions.get(index, ())) > 1:
                continue  # of which of them is not told
            rates = [
                one
                for one in (shaped, said)
                if one is not None and index - one.line <= REACH and (one.line, one.column) <= (index, figure.start)
            ]
            of_shape = shaped in rates
            held.append((figure, _ways(figure, rates), of_shape))
            if figure.tokens == ONE_TOKEN:
                said = rate_of_figure(figure)
    yield from _verdicts(scene, _with_ladders(held))


def _with_ladders(held: Sequence[_Way]) -> list[_Way]:
    """Give the figures of lines that are a length and its bytes the rate that all but one of them have."""
    found = list(held)
    run: list[int] = []
    for place, figure in enumerate([*(one[0] for one in held), None]):
        if figure is not None and figure.ladder and (not run or figure.line - held[run[-1]][0].line <= _AGREED):
            run.append(place)
            continue
        for first in run if _AGREED < len(run) <= _LONG else ():
            ways = {one: [_scaled(held[first][0], held[one][0])] for one in run}
            fair = [one for one in run if _fits(held[one][0], *ways[one][0])]
            if len(fair) >= max(_AGREED, len(run) - 1):
                for one in run:
                    found[one] = (held[one][0], held[one][1] or ways[one], held[one][2])
                break
        run = [place] if figure is not None and figure.ladder else []
    return found


def _scaled(base: CacheFigure, figure: CacheFigure) -> tuple[Fraction, Fraction]:
    """Return between which bytes a figure lies that grows with the length from another."""
    times = Fraction(figure.tokens[0], base.tokens[0]) * base.scales[0]
    half = base.unit_shown / 2
    return (base.value - half) * times, (base.value + half) * times


def _verdicts(scene: Scene, held: Sequence[_Way]) -> Iterator[Claim]:
    fair = [any(_fits(figure, *way) for way in ways) for figure, ways, _ in held]
    right = [figure.line for (figure, *_), fits in zip(held, fair, strict=True) if fits]
    shaped = sum(of_shape and fits and figure.tokens != ONE_TOKEN for (figure, _, of_shape), fits in zip(held, fair, strict=True))
    for (figure, ways, of_shape), fits in zip(held, fair, strict=True):
        if fits:
            yield _claim(scene, figure, next(low for low, high in ways if _fits(figure, low, high)), "rounded")
        if fits or not ways or figure.doubtful:
            continue
        near = [low for low, high in ways if _is_one_digit_off(figure, low, high)]
        digits = len(figure.number.replace(".", "").replace(",", "").strip("0"))
        borne = bisect_right(right, figure.line + REACH) - bisect_left(right, figure.line - REACH)
        if near and (digits > 1 or borne >= _AGREED):
            yield _claim(scene, figure, near[0], "wrong")
        elif of_shape and shaped > _AGREED and figure.tokens != ONE_TOKEN and all(_is_far(figure, *way) for way in ways):
            yield _claim(scene, figure, ways[0][0], "wrong")


def _ways(figure: CacheFigure, rates: Sequence[TokenRate]) -> list[tuple[Fraction, Fraction]]:
    tokens = figure.tokens or ()
    batches = set(figure.batches) or {1}
    beside = [(one * batch, one * batch) for one in figure.before for batch in batches]
    return [
        *beside,
        *[
            (one.low * many * batch, one.high * many * batch)
            for one in rates
            for many in tokens
            for batch in batches
            if many != 1 or one.line == figure.line or one.low == one.high
        ],
    ]


def _fits(figure: CacheFigure, low: Fraction, high: Fraction) -> bool:
    value, unit = figure.value, figure.unit_shown
    return any((value - unit / 2) * scale <= high and low < (value + unit) * scale for scale in figure.scales)  # rounded, or cut off


def _is_far(figure: CacheFigure, low: Fraction, high: Fraction) -> bool:
    return all(figure.value * scale > high * _FAR or figure.value * scale * _FAR < low for scale in figure.scales)


_FAR = Fraction(5, 4)


def _is_one_digit_off(figure: CacheFigure, low: Fraction, high: Fraction) -> bool:
    written = figure.number.replace(",", "").replace(".", "")
    for scale in figure.scales:
        first, last = int(low / scale / figure.unit_shown), int(high / scale / figure.unit_shown + Fraction(1, 2))
        for way in range(first, min(last, first + _WAYS) + 1):
            digits = str(way).rjust(len(written), "0")
            if len(digits) == len(written) and sum(a != b for a, b in zip(digits, written, strict=True)) == 1:
                return True
    return False


_WAYS = 80


def _claim(scene: Scene, figure: CacheFigure, right: Fraction, verdict: str) -> Claim:
    token = Token(
        "num",
        scene.lines[figure.line].text[figure.start : figure.end],
        figure.line,
        figure.start,
        figure.end,
        figure.value,
        figure.unit.lower(),
        len(figure.number.partition(".")[2]),
    )
    scale = min(figure.scales, key=lambda one: abs(figure.value * one - right))
    said = figure.value * scale
    facts: dict[str, object] = {"value": whole(said), "expected": whole(right), "difference": whole(said - right)}
    reason = because(mark("rounded"))
    if verdict == "wrong":
        direction = (
            mark("should be {right}, as the other figures say ({number} too high)")
            if said > right
            else mark("should be {right}, as the other figures say ({number} too low)")
        )
        base = 1024 if scale % 1024 == 0 else 1000
        shown = [whole(one) if scale == 1 else write_bytes(token, one, base) for one in (right, abs(said - right))]
        reason = because(direction, right=shown[0], number=shown[1])
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=reason)
