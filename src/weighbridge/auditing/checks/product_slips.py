"""Counts one digit off what the shapes of their own lines multiply to: ``A is 16 × 768 and B is 768 × 16, 24,576 parameters``, ``W_K: (512, 512) → 262,144``.

No word between them need be understood: so many digits agree by no chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_SIZE = r"\d{1,3}(?:,\d{3})+(?!\d)|\d{1,7}"
_SHAPE = pattern(
    rf"(?<![A-Za-z0-9_.^×*·/+-])(?<!\d,)(?<![×*·/+-]\s)(?P<factors>(?:{_SIZE})(?:\s?[×x*·]\s?(?:{_SIZE})){{1,3}})(?!\s?[×x*·^/.]?\d)"
    r"|(?<![\d×*^])[(\[]\s?(?P<sizes>\d{1,7}(?:\s?[,，]\s?\d{1,7})?)\s?,?\s?[)\]](?!\s?[×x*·^/.]?\d)"
    rf"|(?<=[({{])(?P<power>(?:{_SIZE})\s?[×x*]\s?(?:{_SIZE}))(?=[)}}])"
)
"""Sizes that are multiplied, or those of a tensor or a module: ``768 × 3072``, ``(512, 512)``, ``(64,)``."""
_COUNT = pattern(
    r"(?<![A-Za-z0-9_.^×*·/+-])(?<!\d,)(?<![×*·/^+]\s)(?P<number>\d{1,3}(?:,\d{3})+|\d{2,12})(?![A-Za-z0-9_.,]*\d|\s?[×x*·^/%]|\s?[-–~]\s?\d|,\s?\d|\])(?!\s?(?:tokens?|dim|维|层|layers?|heads?|个?头|steps?|bits?|words?|GPUs?|[KMGT]i?B|bytes?|字节|年|GB)\b)",
    re.IGNORECASE,
)
_RIGHT_BEHIND = pattern(r"\s{0,8}(?:→|->|=>|⇒|[:：]|[(（]\s?(?:参数量?|params?|parameters?)\s?[:：=]?)\s{0,4}$")
"""Between a shape and the count of its elements."""
_COUNTED = pattern(
    r"\s?(?:trainable |learnable |weight )?(?:param(?:eter)?s?\b|weights?\b|elements\b|个?参数|个?权重|个?元素)", re.IGNORECASE
)
_RANK = pattern(
    r"(?<![A-Za-z_])(?:rank|r)\s?(?:=|of|is|为|是|:|：|取)?\s?(\d{1,3})(?!\d|\s?[×x*])|秩(?:为|是|=|取|\s)*(\d{1,3})", re.IGNORECASE
)
_TIMES = pattern(r"(?<![\d.,])(\d{1,3})\s?(?:个|层|layers?\b|blocks?\b|heads?\b|experts?\b|matrices\b|such\b|copies\b)", re.IGNORECASE)
_LONGEST, _ABOVE, _MOST = 1_200, 2, 8
_SURE = 4
"""Digits from which on a count is one digit off by no chance."""
_LEAST = 1_000


class _Product(NamedTuple):
    """What sizes multiply to, they themselves, and where they stand."""

    number: int
    sizes: tuple[int, ...]
    start: int
    end: int


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the counts of lines with shapes that nothing has been said of.

    Args:
        claims: What is judged so far.
    """
    covered = ClaimSpans(one for one in claims if one.verdict != "unsettled")
    above: list[tuple[int, Sequence[_Product]]] = []
    for index in scene.counted_lines:
        line = scene.lines[index]
        own = _products(line.text) if len(line.text) <= _LONGEST and _has_shape(line.text) else ()
        near = [one for place, found in above if index - place <= _ABOVE for one in found]
        for found in _COUNT.finditer(line.text) if (own or near) and len(line.text) <= _LONGEST else ():
            start = found.start("number")
            here = line.at[start] if start < len(line.at) else 0
            inside = any(one.start <= start < one.end for one in own)
            if not inside and not covered.holds(line.number, here, here + 1):
                yield from _judge(scene, index, found, own, near)
        above = [*above[-_ABOVE:], (index, own)] if own else above


@once_for_each_shape
def _has_shape(text: str) -> bool:
    return _SHAPE.search(text) is not None


def _products(text: str) -> list[_Product]:
    """Return what the shapes of a line multiply to; of a line with many none, which is no sentence."""
    found = []
    for match in _SHAPE.finditer(text):
        sizes = tuple(
            int(one.replace(",", "")) for one in re.findall(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+" if not match["sizes"] else r"\d+", match[0])
        )
        found.append(_Product(prod(sizes), sizes, *match.span()))
    return found if len(found) <= _MOST else []


def _judge(scene: Scene, index: int, found: re.Match[str], own: Sequence[_Product], near: Sequence[_Product]) -> Iterator[Claim]:
    text, number = scene.lines[index].text, int(found["number"].replace(",", ""))
    start, end = found.span("number")
    token = Token("num", found["number"], index, start, end, Fraction(number))
    beside = [one for one in own if one.end <= start and _RIGHT_BEHIND.search(text[one.end : start])]
    if beside:
        rights = {number for one in beside[-1:] for number in _of_one(one)} | (_rights(text, [*near, *own]) if number >= _LEAST else set())
        sure = _COUNTED.match(text, end) is not None or number >= _LEAST or "参数" in text[beside[-1].end : start]
    else:
        rights = _rights(text, [*near, *own])
        sure = number >= _LEAST and ("," in found["number"] or _COUNTED.match(text, end) is not None)
    if not sure or not rights:
        return
    if number in rights:
        yield claim(scene.lines, token, token, "arithmetic", "exact", value=number, expected=number, difference=0)
        return
    slips = {right for right in rights if _is_one_digit_off(number, right)}
    if len(slips) == 1 and not any(number in one.sizes for one in (*near, *own)):
        right = slips.pop()
        facts = {"value": number, "expected": right, "difference": number - right}
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=because(mark("should be {right}"), right=right))


def _of_one(one: _Product) -> set[int]:
    """Return what a shape holds: a matrix, with a bias at either side or none."""
    return {one.number, *(one.number + size for size in one.sizes if len(one.sizes) > 1)}


def _rights(text: str, products: Sequence[_Product]) -> set[int]:
    """Return what counts of a line may be: of one of its shapes, of several together, of a pair of low rank, or of so many alike."""
    products = list(dict.fromkeys(products))[-_MOST:]
    if len({size for one in products for size in one.sizes}) > _MOST:
        return set()
    found = {number for one in products for number in _of_one(one)}
    found |= {sum(one.number for one in several) for many in (2, 3, 4) for several in combinations(products, many)}
    ranks = {int(m[1] or m[2]) for m in _RANK.finditer(text)}
    found |= {rank * sum(one.sizes) * times for rank in ranks for one in products if len(one.sizes) > 1 for times in (1, 2)}
    times = {int(match[1]) for match in _TIMES.finditer(text)}
    return found | {number * many for number in found for many in times} if len(times) <= _SOME else found


_SOME = 3


def _is_one_digit_off(number: int, right: int) -> bool:
    written, meant = str(number), str(right)
    return len(written) == len(meant) and sum(a != b for a, b in zip(written, meant, strict=True)) == 1
