"""A count in letters that is said again in words, or the other way round: ``7B = 70亿参数``, ``“8B” 表示约 80 亿个参数``, ``6000万（60M）``.

No model need be known: the two are one number, and as many digits of each are given. A second figure with more digits says what the first one rounds (``7B (7.6 billion)``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks import restated_sizes
from weighbridge.auditing.checks.claim_places import overlap
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_UNITS = {
    "m": 10**6, "b": 10**9, "t": 10**12, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12, "": 1,
}  # fmt: skip
_SAME = ({"m", "million"}, {"b", "billion"}, {"t", "trillion"})
_WORDS = r"万亿|千亿|百亿|十亿|亿|千万|百万|万|[Mm]illion|[Bb]illion|[Tt]rillion"
_ONE = rf"(?<![\w.,])(?P<one>\d{{1,4}}(?:\.\d{{1,3}})?)\s?(?P<unit>{_WORDS}|[MBT](?![\w/]|\s?[×x*/]))"
_AGAIN = rf"(?P<again>\d{{1,4}}(?:\.\d{{1,3}})?|\d{{1,3}}(?:,\d{{3}}){{2,3}}|\d{{8,12}})\s?(?P<other>{_WORDS}|[MBT](?![\w/])|(?=\s?(?:个?参数|parameters)))"
_COUNTED = r"(?:\s?个?参数|\s(?:parameters|params))?"
_ABOUT = r"(?:\s?(?:大约|约为|约|即|也就是|左右|为|i\.e\.,?|or|that is|about|around|roughly|approximately|some)\s?)*[~≈*_\s]*"
_PATTERNS = (
    pattern(rf"{_ONE}{_COUNTED}[*_”\"']*\s?[(（]{_ABOUT}{_AGAIN}{_COUNTED}\s?[)）]"),
    pattern(
        rf"{_ONE}[*_”\"'」』）)]*\s?(?:模型|models?|参数)?[^\d。;；.!?！？，,]{{0,16}}?(?:=|[:：]|表示|代表|是指|指的是|指|意味着|即|就是|也就是|等于|means?|stands for|refers to|equals|indicates|denotes|is short for)"
        rf"[^\d。;；!?！？]{{0,28}}?{_AGAIN}(?=\s?(?:个?参数|parameters|[(（*]|$|[。，,；;]))"
    ),
)
_OTHERWISE = pattern(
    r"token|word|数据|语料|显存|内存|字节|bytes?\b|\bGB|memory|每秒|flop|实际|真实|准确|其实|actually|really|exact|precis|training|训练|不是|并非|\bnot\b|比|than|需要|\bneed|require|\bvs\b|超过|不到|more|less|激活|activ",
    re.IGNORECASE,
)
"""Words between or around the two by which the second is another number."""
_LONGEST = 2_000
_NEAR = 8
"""The part of a count by which one in parentheses may differ from what a model is called by."""


class _Figure(NamedTuple):
    """A figure: its digits as written, how many of them tell, and the number."""

    written: str
    telling: int
    value: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the second of two figures that are said to be one number against the first."""
    taken = list(restated_sizes.check(scene))
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST or not _SIGN.search(text):
            continue
        for words in _PATTERNS:
            for found in words.finditer(text):
                yield from (one for one in _hold(scene, index, found) if not any(overlap(one, other) for other in taken))


_SIGN = pattern(r"\d\s?(?:[MBT]\b|[mbt]illion|[亿万])|[BM]illion")


def _hold(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    unit, other = found["unit"].lower(), found["other"].lower()
    if unit == other or _OTHERWISE.search(found[0]):
        return
    first, again = _figure(found["one"], unit), _figure(found["again"], other)
    if not first.value or again.telling > first.telling or not again.value:
        return
    token = Token("num", found["again"], index, found.start("again"), found.end("other") if other else found.end("again"))
    facts: dict[str, object] = {"value": again.value, "expected": first.value, "difference": again.value - first.value}
    if _is_rounded(first.value, again):
        yield claim(scene.lines, token, token, "arithmetic", "exact" if first.value == again.value else "rounded", **facts)
        return
    if found[0].endswith((")", "）")) and abs(first.value - again.value) * _NEAR <= first.value:
        return  # a model of 1.6 billion may be called 1.5B
    right = first.value / _UNITS[other]
    slipped = (
        right.denominator == 1
        and is_slip(again.written.replace(",", ""), str(right))
        and len(again.written.replace(",", "")) == len(str(right))
    )
    ratio = max(first.value / again.value, again.value / first.value)
    if slipped or (ratio in (10, 100, 1000) and {unit, other} not in _SAME):
        reason = because(
            mark("should be {right} {unit}"),
            right=f"{right.numerator:,}" if right.denominator == 1 else f"{float(right):g}",
            unit=found["other"],
        )
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)


def _figure(written: str, unit: str) -> _Figure:
    digits = written.replace(",", "")
    telling = len(digits.replace(".", "").strip("0")) if "." not in digits else len(digits.replace(".", "").lstrip("0"))
    return _Figure(written, telling, Fraction(digits) * _UNITS[unit])


def _is_rounded(first: Fraction, again: _Figure) -> bool:
    """Tell whether a figure is another one rounded to the digits that tell."""
    if not again.telling:
        return False
    magnitude = 0
    while 10 ** (magnitude + 1) <= again.value:
        magnitude += 1
    step = Fraction(10) ** (magnitude + 1 - again.telling)
    return abs(first - again.value) * 2 <= step
