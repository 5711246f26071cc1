"""A nominal size that is said again in the other counting of thousands: ``7B 模型意味着有 70 亿个参数``, ``13B（130 亿参数）``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark

_AGAIN = pattern(
    r"(?<![\w.\-×*/^+])(?P<size>\d{1,4}(?:\.\d{1,2})?)\s?B\s?(?:参数)?的?(?:大?模型|版本)?\s?"
    r"(?:(?P<strict>[,，]?\s?(?:即|也就是|意味着|就是|表示|代表|指的?是|[=＝])(?:它|其|模型)?(?:大约|约|有|为|是)*\s?(?P<said>\d[\d,]*(?:\.\d+)?)\s?亿\s?个?参数)"
    r"|[(（]\s?(?:即|也就是|约|大约)?\s?(?P<aside>\d[\d,]*(?:\.\d+)?)\s?亿\s?(?:个?参数)?\s?[)）])",
    re.IGNORECASE,
)
_HUNDRED_MILLIONS = 10
"""Hundreds of millions in a billion."""
_NEAR = 8
"""Part of a nominal size by which the count of a model called so may differ: ``1.5B（16 亿）``."""


def _digits(number: str) -> int:
    """Return how many digits of a number say something."""
    return len(number.replace(",", "").replace(".", "").strip("0"))


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the second figure against the first. In parentheses, one that is not round may be what a model called so has: ``7B（76 亿）``."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        for found in _AGAIN.finditer(text) if "亿" in text else ():
            if any(m.column <= found.start() < m.end for m in scene.mentions.get(index, ())):
                continue
            group = "said" if found["strict"] else "aside"
            said, right = Exact(found[group].replace(",", "")), Exact(found["size"]) * _HUNDRED_MILLIONS
            near = abs(said - right) * _NEAR <= right or _digits(found[group]) > _digits(found["size"])
            if said != right and near and not found["strict"]:
                continue
            token = Token("num", found[group], index, found.start(group), text.index("亿", found.start(group)) + 1)
            facts: dict[str, object] = {
                "value": whole(said * 10**8),
                "expected": whole(right * 10**8),
                "difference": whole((said - right) * 10**8),
            }
            reason = () if said == right else because(mark("it is {right}"), right=f"{right} 亿")
            yield claim(scene.lines, token, token, "arithmetic", "exact" if said == right else "wrong", **facts, reason=reason)
