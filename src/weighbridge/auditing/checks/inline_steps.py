"""Steps of a derivation in running text: so many layers of the count before, and the sum of the counts before: ``每层约 202.4M，32 层约 6.48B``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.own_counts import is_whole
from weighbridge.auditing.checks.reference_counts import component_numbers
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, significant_digits, value_bounds, whole, write_like
from weighbridge.auditing.text.size_words import BYTES, WORK
from weighbridge.auditing.thresholds import SLIP_APART, SUM_DIGITS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_EACH = pattern(
    r"\b(?:per|each|every|one|a|single) (?:\w+ )?(?:layer|block)s?\b|\b(?:layer|block) (?:\w+ )?(?:has|holds|takes|costs|comes to)\b|每一?层|单层|一层|每个(?:块|block|层)",
    re.IGNORECASE,
)
_TIMES = pattern(
    r"(?<![×*] )(?<![A-Za-z0-9_.,×*])(?P<number>\d{1,3}) ?(?:个 ?)?(?:transformer |encoder |decoder |such |identical |hidden )?(?:layers?|blocks?|层|块)\W{0,2}"
    r"(?:(?:一?共|合计|总共|总计|约|就|便|则|是|为|有|together|total|this|that|gives?|makes?|hold|have|has|is|are|come|comes|to|about|around|roughly|would|parameters?|参数量?|[:：≈~=→，,*]) ?){0,5}$",
    re.IGNORECASE,
)
_SUMMED = pattern(
    r"(?:合计|总共|共计|一共|加起来|相加|总计|总和|sum(?:s|ming)?(?: up)?(?: to)?:?|for a total of|in total|altogether|adds? up to|together)\W{0,2}(?:约|为|是|about|roughly|~|≈|[:：])?\W{0,2}$",
    re.IGNORECASE,
)
_SO = pattern(r"(?:所以|因此|因而|故|(?:\b(?:so|thus|hence|therefore|makes|making|giving|gives|i\.e\.)))[^。;；]{0,24}$", re.IGNORECASE)
_IN_TOTAL = pattern(r"\W{0,2}(?:param(?:eter)?s )?(?:in total|altogether|in all|total\b|together)", re.IGNORECASE)
_BREAK = pattern(r"[。!?！？|]|(?<!i\.e)(?<!e\.g)\.(?!\d)(?=\s|$)")
_ELSE = pattern(
    r"\b(?:without|except|excluding|ignoring|not counting|of which|more|fewer|less|saves?|if|would)\b|不含|除了|忽略|其中|如果|若|节省|减少",
    re.IGNORECASE,
)
_LONGEST = 4000
"""Characters of a line that is a sentence or two."""
_NEAR = 40
"""Characters about a count that say whose it is."""
_TWICE = 2
_MOST = 8


class _Figure(NamedTuple):
    """A count of a line: its token, and the words between it and the count before it."""

    token: Token
    before: str
    behind: str


def check(scene: Scene) -> Iterator[Claim]:
    """Check every count of a line that is said to be so many layers of the one before it, or the sum of those before it."""
    for statement in scene.numbered:
        found = list(_figures(scene, statement))
        for place, figure in enumerate(found[1:], 1):
            above = found[max(0, place - _ABOVE) : place]
            yield from _product(scene, figure, above)
            yield from _sum(scene, figure, above)


_ABOVE = 24
"""Counts of a line before one that it may come from."""


def _figures(scene: Scene, statement: Sequence[Token]) -> Iterator[_Figure]:
    """Yield the counts of a statement: results of its equations, and the numbers that stand in none."""
    counts = [(i, t) for i, t in scene.figures_of(statement) if _is_count(t)]
    if len(counts) < _TWICE:
        return
    inside = {i for chain in scene.chains_of(statement) for i in range(chain.start, chain.sides[-1].start) if len(chain.sides) > 1}
    kept = [t for i, t in counts if i not in inside and not _is_factor(statement, i)]
    text = scene.lines[statement[0].line].text if len(kept) > 1 else ""
    if not text or len(text) > _LONGEST or "|" in text or any(t.line != kept[0].line for t in kept):
        return
    for place, token in enumerate(kept):
        since = kept[place - 1].end if place else 0
        until = kept[place + 1].start if place + 1 < len(kept) else len(text)
        yield _Figure(token, text[since : token.start], text[token.end : until])


def _is_count(token: Token) -> bool:
    if token.kind != "num" or not token.value or token.unit == "%" or token.unit in BYTES or token.unit in WORK:
        return False
    return bool(token.unit) or (token.value >= 1000 and not token.places)


def _is_factor(statement: Sequence[Token], index: int) -> bool:
    return any(other.kind == "op" and other.text in "*/+^" for other in statement[max(0, index - 1) : index + 2])


def _product(scene: Scene, figure: _Figure, above: Sequence[_Figure]) -> Iterator[Claim]:
    """Hold ``32 层约 6.48B`` against the counts of one layer before it; it is wrong only of the one right before it."""
    match = _TIMES.search(figure.before)
    if match is None or not above or int(match["number"]) < _TWICE or _ELSE.search(above[-1].behind):
        return
    times, (low, high) = int(match["number"]), _bounds(figure.token)
    for one in above[::-1]:
        least, most = (bound * times for bound in _bounds(one.token))
        if _is_of_each(one, above) and least <= high and low <= most:
            reason = because(mark("{times} times the number above"), times=times)
            yield _claim(scene, figure.token, "rounded", likeliest_value(figure.token), reason)
            return
    one = above[-1]
    if _EACH.search(one.before[-_NEAR:]) or _EACH.match(one.behind.lstrip(" ,，(")) or _is_total(one):
        right = (likeliest_value(one.token) or Fraction(0)) * times
        if _is_of_each(one, above):
            yield from _slip(scene, figure.token, right, because(mark("{times} times the number above"), times=times))


def _is_of_each(figure: _Figure, above: Sequence[_Figure]) -> bool:
    """Tell whether a count is said to be one layer's, itself or by the beginning of its sentence."""
    words = figure.before + figure.behind[:_NEAR]
    for one in above[: above.index(figure)][::-1]:
        if _BREAK.search(words[: len(figure.before)]):
            break
        words = one.before + words
    return _EACH.search(words) is not None


def _is_total(figure: _Figure) -> bool:
    """Tell whether a count is said to be the sum of those before it."""
    drawn = _SO.search(figure.before) is not None and (
        _EACH.search(figure.before) is not None or _EACH.match(figure.behind.lstrip(" ,，(")) is not None
    )
    return drawn or _SUMMED.search(figure.before) is not None or _IN_TOTAL.match(figure.behind) is not None


def _sum(scene: Scene, figure: _Figure, above: Sequence[_Figure]) -> Iterator[Claim]:
    """Hold a total against the counts that stand before it in its sentence."""
    if len(above) < _TWICE or not _is_total(figure) or _ELSE.search(figure.before) or _WITH_MORE.match(figure.behind):
        return
    parts: list[_Figure] = []
    behind = figure.before
    for one in reversed(above):
        if _BREAK.search(behind) or _ELSE.search(behind):
            break
        parts.insert(0, one)
        behind = one.before
    if not _TWICE <= len(parts) <= _MOST:
        return
    bounds = [_bounds(one.token) for one in parts]
    low, high = _bounds(figure.token)
    for first in range(len(parts) - 1):
        least, most = (sum(ends, Fraction(0)) for ends in zip(*bounds[first:], strict=True))
        if least <= high and low <= most:
            reason = because(mark("the sum of {count} numbers above"), count=len(parts) - first)
            yield _claim(scene, figure.token, "exact" if low == high == least == most else "rounded", likeliest_value(figure.token), reason)
            return
    right = sum((likeliest_value(one.token) or Fraction(0) for one in parts), Fraction(0))
    yield from _slip(scene, figure.token, right, because(mark("the sum of {count} numbers above"), count=len(parts)))


_WITH_MORE = pattern(r"\s?[(（]\s?(?:含|包[含括]|连同|加上?|with\b|incl)", re.IGNORECASE)
"""Right behind a total, what it holds beside what was listed."""


def _bounds(token: Token) -> tuple[Fraction, Fraction]:
    return value_bounds(token, scales(token)[0])


def _slip(scene: Scene, token: Token, right: Fraction, reason: Reason) -> Iterator[Claim]:
    """Say that a count is wrong if it is one slip of the pen off, and nothing that the model has."""
    number = likeliest_value(token) or Fraction(0)
    digits = significant_digits(token)
    written = f"{float(right / scales(token)[0]):.{token.places}f}" if token.unit else str(int(right))
    apart = abs(number - right) * SLIP_APART[min(digits, len(SLIP_APART) - 1)] >= right
    if digits < SUM_DIGITS or not apart or not is_slip(str(int((token.value or 0) * 10**token.places)), written.replace(".", "")):
        return
    model = scene.model_at(token.line, token.start)
    if model is not None and (is_whole(model, int(number)) or any(fit(token, count) for count in component_numbers(model))):
        return
    direction = should_be(is_higher=number > right)
    said = because(direction, right=write_like(token, right), number=write_like(token, abs(number - right)))
    yield _claim(scene, token, "wrong", right, said + reason)


def _claim(scene: Scene, token: Token, verdict: str, right: Fraction | None, reason: Reason) -> Claim:
    number = likeliest_value(token) or Fraction(0)
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - (right or number)), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
