"""A number as a share of another beside it: ``65,536, 0.39% of the 16.8M weights``, ``65,536，只有原来 1678 万的 0.39%``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.core.messages import mark

_NUMBER = r"(?P<{0}>(?<![\w.,-])\d[\d,]*(?:\.\d+)?)\s?(?P<{0}unit>[KMBT](?![A-Za-z])|[KMGT]i?B|million|billion|千万|百万|万亿|亿|万)?"
_SHARE = r"(?P<share>\d{1,2}(?:\.\d+)?)\s?%"
_ENGLISH = pattern(
    _NUMBER.format("part")
    + rf"(?:\s(?:parameters|params|weights))?\s?[,(]\s?(?:or |that is |which is |i\.e\. )?(?:about |only |just |roughly |a mere )?{_SHARE} of (?:the )?"
    + _NUMBER.format("all"),
    re.IGNORECASE,
)
_CHINESE = pattern(
    _NUMBER.format("part")
    + r"\s?(?:个?参数)?\s?[，,（(]\s?(?:只有|仅|约|占|是|为|相当于|只占|仅占)*(?:原来|原始|全部|总共|总参数量?)?的?\s?"
    + _NUMBER.format("all")
    + rf"\s?(?:个?参数)?的\s?约?{_SHARE}"
)
_SCALES = {unit: UNITS[unit][0] for unit in "k m b t million billion 万 百万 千万 亿 万亿".split()}
_LONGEST = 2_000


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the share against the two numbers beside it."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if "%" in text and len(text) <= _LONGEST:
            for shape in (_ENGLISH, _CHINESE):
                for found in shape.finditer(text):
                    yield from _hold(scene, index, found)


def _hold(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    part, everything = _bounds(found, "part"), _bounds(found, "all")
    value, unit = Fraction(found["share"]), Fraction(1, 10 ** len(found["share"].partition(".")[2]))
    about = found.string[max(0, found.start() - _REACH) : found.end() + _REACH]
    if (not found["partunit"] and ("," not in found["part"] or Fraction(found["part"].replace(",", "")) < _PLAIN)) or not _COUNTED.search(
        about
    ):
        return  # ``in 2024, 15% of the 1.2B users``
    if part is None or everything is None or everything[0] <= 0 or not part[1] or part[0] > everything[1]:
        return
    low, high = 100 * part[0] / everything[1], 100 * part[1] / everything[0]
    right = 50 * (low / 100 + high / 100)
    token = Token(
        "num", scene.lines[index].text[found.start("share") : found.end("share") + 1], index, found.start("share"), found.end("share")
    )
    facts: dict[str, object] = {"value": whole(value), "expected": whole(right), "difference": whole(value - right)}
    if low - unit <= value <= high + unit:
        yield claim(scene.lines, token, token, "share", "rounded", **facts, reason=because(mark("rounded")))
    else:
        reason = because(mark("should be {right} %"), right=f"{float(right):.{max(2, len(found['share'].partition('.')[2]))}f}")
        yield claim(scene.lines, token, token, "share", "wrong", **facts, reason=reason)


def _bounds(found: re.Match[str], group: str) -> tuple[Fraction, Fraction] | None:
    """Return between which numbers a number lies by the digits it shows."""
    unit = (found[f"{group}unit"] or "").lower()
    scale = (
        _SCALES.get(unit) or ({"k": 1, "m": 2, "g": 3, "t": 4}.get(unit[:1], 0) and 1000 ** {"k": 1, "m": 2, "g": 3, "t": 4}[unit[:1]]) or 1
    )
    written = found[group].replace(",", "")
    number = Fraction(written)
    if not unit and number < _LEAST:
        return None
    half = Fraction(1, 2 * 10 ** len(written.partition(".")[2])) if unit else Fraction(0)
    return (number - half) * scale, (number + half) * scale


_COUNTED = pattern(r"param|weight|参数|权重", re.IGNORECASE)
_REACH, _PLAIN = 40, 10_000
_LEAST = 1_000
"""Numbers without a unit below which nothing is counted: a year's days, an item's number."""
