"""Bytes with the number or the product that they are beside them: ``4096 bytes (4 KB)``, ``28 GB (7B × 4 bytes)``, ``2 * 32 * 4096 * 2 bytes, which is ~0.5 MB``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from weighbridge.auditing.byte_thresholds import EXACT_PRODUCT_FAR, MEMORY_TOLERANCE, PRODUCT_FAR
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, whole, write_like
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_FIGURE = r"(?P<figure>(?<![A-Za-z0-9_.])\d+(?:\.\d+)? ?[KMGT]i?B)(?![A-Za-z0-9_])"
_EXPLAINED = pattern(
    rf"{_FIGURE} ?[(（] ?(?P<count>\d+(?:\.\d+)?) ?(?P<scale>B|M|billion|million|亿)(?: ?(?:params|parameters|参数))? ?[×x*·] ?(?P<each>\d{{1,2}}(?:\.\d)?)"
    r" ?(?:bytes?|字节)?(?:/param\w*| (?:per|each|for each) param\w*)? ?[)）]",
    re.IGNORECASE,
)
_PRODUCT = pattern(
    rf"(?<![\d.,×*x+/^(-])(?<![×*x+/^(-] )(?P<product>\d[\d,]*(?: ?[×x*·] ?\d[\d,]*){{2,8}}) ?(?:bytes?|字节)\W{{0,3}}(?:(?:which|that|is|or|i\.e\.|about|roughly|approximately|即|也就是|约|大约|为|是) ?)*[~≈=]? ?{_FIGURE}",
    re.IGNORECASE,
)
_RESTATED = pattern(
    rf"(?<![A-Za-z0-9_.,])(?P<bytes>\d{{1,3}}(?:,\d{{3}})+|\d{{3,15}}) ?(?:bytes?|字节)(?:(?:\s?/\s?token| (?:per|a|for each) token)?\s?[(（≈~=]|[,，]?\s?(?:i\.e\.|that is|即|也就是|约为?|大约))"
    rf"\s?[~≈约]?\s?(?:about |roughly |approximately )?{_FIGURE}(?! ?(?:at|for|in|with|over|per|when)\b)",
    re.IGNORECASE,
)
"""A number of bytes said again in a larger unit."""
_SCALES = {"b": 10**9, "billion": 10**9, "m": 10**6, "million": 10**6, "亿": 10**8}
_LONGEST = 10_000
_EXACT = 3
"""Digits from which on a figure is no loose rounding."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check a figure in bytes against the product in parentheses behind it, or the one in bytes right before it."""
    for index in scene.counted_lines:
        line = scene.lines[index]
        if len(line.text) > _LONGEST or "B" not in line.text:
            continue
        for found in _EXPLAINED.finditer(line.text):
            right = Fraction(found["count"]) * _SCALES[found["scale"].lower()] * Fraction(found["each"])
            yield from _hold(scene, index, found, right)
        for found in _PRODUCT.finditer(line.text):
            factors = re.findall(r"\d[\d,]*", found["product"])
            yield from _hold(scene, index, found, Fraction(prod(int(factor.replace(",", "")) for factor in factors)))
        for found in _RESTATED.finditer(line.text):
            yield from _hold(scene, index, found, Fraction(found["bytes"].replace(",", "")))


def _hold(scene: Scene, index: int, found: re.Match[str], right: Fraction) -> Iterator[Claim]:
    token = next(iter(tokens(found["figure"], index)), None)
    value = token.value if token is not None and token.kind == "num" else None
    if token is None or not value or not right or token.unit not in UNITS:
        return
    token = Token(token.kind, token.text, index, *found.span("figure"), value, token.unit, token.places)
    number = likeliest_value(token) or Fraction(0)
    said = [value * scale for scale in UNITS[token.unit]]
    step = Fraction(1, 2 * 10**token.places)
    near = any(abs(one - right) <= max(MEMORY_TOLERANCE * right, step * scale) for one, scale in zip(said, UNITS[token.unit], strict=True))
    far = PRODUCT_FAR if significant_digits(token) < _EXACT else EXACT_PRODUCT_FAR
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    if near:
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif all(one > far * right or one * far < right for one in said):
        direction = should_be(is_higher=number > right)
        reason = because(direction, right=write_like(token, right), number=write_like(token, abs(number - right)))
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)
