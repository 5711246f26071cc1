"""A count with its computation in parentheses behind it, ``约 13 万（16×(4096+4096)）``, or in its label, ``每步 token（4 × 8 卡 × 4096）：131,072``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.expressions import parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole, write_like
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.text.values import value
from weighbridge.core.messages import mark

_BEHIND = pattern(
    r"(?<![\w.,×*/^+\-])(?P<result>\d[\d,]*(?:\.\d+)?\s?(?:万|亿|[KMB](?![A-Za-z]))?)\s?(?:个?参数|param(?:eter)?s?)?\s?"
    r"[(（]\s?(?P<formula>(?=[^=]*[×*])(?:[\d,\s×*+²^]|[(（][\d,\s×*+²^]{1,40}[)）]){4,40})[)）](?!\s?[×*/^])",
    re.IGNORECASE,
)
"""A count, and behind it in parentheses nothing but a computation of whole numbers."""
_AHEAD = pattern(
    r"[(（](?P<factors>[^()（）|=]{1,24}(?:\s?[×*]\s?[^()（）|=×*]{1,24}){1,6})[)）]\s?[*_`]*\s?(?:[:：]|为|是|\|)\s*[*_`]*(?P<result>\d[\d,]*)[*_`]*(?=\s*(?:$|[|,，。;；]))"
)
"""A label that ends with factors in parentheses, and its value."""
_FACTOR = pattern(r"[^\W\d][^\W\d\s]*(?:\s[^\W\d]+){0,3}\s?(?P<a>\d[\d,]*)|(?P<b>\d[\d,]*)\s?[^\W\d]*", re.IGNORECASE)
_LEAST = 1_000
"""A smaller number is the product of what stands beside it by chance: 64 channels (7 × 7)."""
_FAR = Fraction(1, 25)
"""How far a rounded count may be from its computation, which may leave biases out."""
_ANOTHER = 3
"""How many times it is another thing's: ``7B (32 × 4096)``."""


def check(scene: Scene) -> Iterator[Claim]:
    """Hold each such count against its computation."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if "(" not in text and "（" not in text:
            continue
        for found in _BEHIND.finditer(text):
            right = _computed(found["formula"].strip(), index)
            if right is not None:
                yield from _hold(scene, index, found, right)
        for found in _AHEAD.finditer(text):
            factors = [_FACTOR.fullmatch(one.strip()) for one in re.split(r"[×*]", found["factors"])]
            if all(factors):
                sizes = [int((one["a"] or one["b"]).replace(",", "")) for one in factors if one is not None]
                yield from _hold(scene, index, found, Fraction(prod(sizes)))


def _computed(formula: str, line: int) -> Fraction | None:
    """Return what a formula of whole numbers gives, if it can be read whole."""
    read = list(tokens(formula, line))
    parsed = parse(read, 0, len(read))
    if parsed is None or parsed.end != len(read) or parsed.dangling:
        return None
    return value(parsed.term, likeliest_value, {})


def _hold(scene: Scene, line: int, found: re.Match[str], right: Fraction) -> Iterator[Claim]:
    """Judge a count: exact or rounded to the digits that it shows, wrong where it is a slip of one digit, or far off though rounded."""
    token = next((one for one in tokens(found["result"], line) if one.kind == "num"), None)
    number = likeliest_value(token) if token is not None else None
    if token is None or number is None or right < _LEAST or scene.is_judged(line, found.start("result"), found.end("result")):
        return
    token = token._replace(start=found.start("result"), end=found.start("result") + len(found["result"].rstrip()))
    unit = (likeliest_value(token._replace(value=Fraction(1))) or Fraction(1)) / 10**token.places
    facts: dict[str, object] = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    if number == right:
        yield claim(scene.lines, token, token, "arithmetic", "exact", **facts)
    elif token.unit and abs(number - right) < unit:
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif _is_wrong(token, number, right, unit):
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=_reason(token, number, right))


def _is_wrong(token: Token, number: Fraction, right: Fraction, unit: Fraction) -> bool:
    if not token.unit:
        return is_slip(str(number), str(right))
    return max(unit, _FAR * right) < abs(number - right) and number < right * _ANOTHER and right < number * _ANOTHER


def _reason(token: Token, number: Fraction, right: Fraction) -> object:
    direction = should_be(is_higher=number > right)
    about = write_like(token, right) if token.unit else whole(right)
    away = write_like(token, abs(number - right)) if token.unit else whole(abs(number - right))
    return because(direction, right=about, number=away)
