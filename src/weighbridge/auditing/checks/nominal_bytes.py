"""Bytes that follow from a count said beside them and a dtype: ``7B model = 14 GB (FP16)``, ``31.23 million parameters ... 124.92 MB in fp32``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import COUNTED_BYTES_FAR, MEMORY_TOLERANCE, NOMINAL_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_FIGURE = r"(?P<figure>\d+(?:\.\d+)? ?[KMG]i?B)(?![A-Za-z0-9_])"
_DTYPE = r"(?:fp ?32|fp ?16|bf16|b?float(?:16|32)|int8|fp8|half|full|16[- ]bit|32[- ]bit|8[- ]bit|半精度|单精度|全精度)"
_OF_MODEL = pattern(
    rf"(?<![A-Za-z0-9_.-])(?P<count>\d+(?:\.\d+)?) ?(?P<scale>B)[ -]?(?:param\w*[ -]?)?(?:models?|模型)\s?(?:=|⇒|→|->|[:：]|≈|(?:的?(?:核心)?权重)\s?(?:[(（][^()（）]{{0,24}}[)）])?\s?\|)\s?[~≈约]?\s?{_FIGURE}",
    re.IGNORECASE,
)
"""A model that is called by its count, and right behind it the bytes of its weights."""
_COUNTED = pattern(
    r"(?<![A-Za-z0-9_.,-])(?P<count>\d+(?:\.\d+)?)\s?(?P<scale>billion|million|B|M)\s?(?:trainable )?(?:param(?:eter)?s?\b|个?参数)",
    re.IGNORECASE,
)
_IN_DTYPE = pattern(
    rf"(?<![A-Za-z0-9_.-]){_FIGURE}\s?(?:(?:of (?:gpu |video )?(?:memory|ram|vram) )?in (?:full|half) precision\s?)?[(（](?:in )?(?P<dtype>{_DTYPE})(?: or {_DTYPE})?[)）]",
    re.IGNORECASE,
)
"""Bytes with their dtype in parentheses right behind them."""
_OTHER = pattern(
    r"gradients?\b|optimi[sz]er|adam|activation|\bkv\b|cache|train|lora|adapter|overhead|total|quanti[sz]ed|gguf|disk|per |each|every|梯度|优化器|激活|缓存|训练|合计|总|量化|每(?!个?参数)",
    re.IGNORECASE,
)
_OF_PARAMETER = pattern(r"\b(?:per|each|every) (?:model )?(?:param\w*|weight)", re.IGNORECASE)
_SCALES = {"b": 10**9, "billion": 10**9, "m": 10**6, "million": 10**6}
_ABOVE = 3
"""Lines above a figure within which its dtype or its count may be said."""
_LONGEST = 2_000
_REMARK = pattern(r"[(（][^()（）]{0,24}[)）]")


def check(scene: Scene) -> Iterator[Claim]:
    """Check bytes of weights against the count and the dtype that are said with them."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST or "B" not in text:
            continue
        for found in _OF_MODEL.finditer(text):
            size = _dtype_of(scene, index, found)
            if size is not None and not _OTHER.search(_REMARK.sub("", text)):
                yield from _hold(scene, index, found, _count(found) * size, nominal=True)
        for found in _IN_DTYPE.finditer(text):
            counts = _counts(scene, index)
            sizes = dtype_sizes(found["dtype"])
            if len(counts) == 1 and len(sizes) == 1 and not _OTHER.search(text):
                yield from _hold(scene, index, found, next(iter(counts)) * sizes[0], nominal=False)


def _dtype_of(scene: Scene, index: int, found: re.Match[str]) -> Fraction | None:
    """Return the bytes of the one dtype of a line, or else of the one above that it is an item of."""
    text = scene.lines[index].text
    behind = re.match(r"\s?[(（][^()（）]{0,16}[)）]", text[found.end() :])
    own = dtype_sizes(text[found.start() : found.end()] + (behind[0] if behind else "")) or dtype_sizes(text)
    if own:
        return own[0] if len(own) == 1 else None
    depth = len(text) - len(text.lstrip())
    for above in range(index - 1, max(-1, index - 1 - _ABOVE), -1):
        other = scene.lines[above].text
        sizes = dtype_sizes(other)
        if other.strip() and len(other) - len(other.lstrip()) < depth:
            return sizes[0] if len(sizes) == 1 and not _OTHER.search(_OF_PARAMETER.sub(" ", other)) else None
    return None


def _counts(scene: Scene, index: int) -> set[Fraction]:
    """Return the counts of parameters of a line, or of those right above it."""
    for above in range(index, max(-1, index - 1 - _ABOVE), -1):
        found = {_count(match) for match in _COUNTED.finditer(scene.lines[above].text)}
        if found:
            return found
    return set()


def _count(found: re.Match[str]) -> Fraction:
    return Fraction(found["count"]) * _SCALES[found["scale"].lower()]


def _hold(scene: Scene, index: int, found: re.Match[str], right: Fraction, *, nominal: bool) -> Iterator[Claim]:
    token = next(iter(tokens(found["figure"], index)), None)
    if token is None or not token.value or token.unit not in UNITS:
        return
    token = Token(token.kind, token.text, index, *found.span("figure"), token.value, token.unit, token.places)
    mine = likeliest_value(token) or Fraction(0)
    said = [token.value * scale for scale in UNITS[token.unit]]  # type: ignore[operator]
    far = NOMINAL_FAR if nominal or significant_digits(token) < _EXACT else COUNTED_BYTES_FAR
    facts = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    kind = "arithmetic" if nominal else "total"  # what a model is called by is no claim about the model above
    if any(abs(one - right) <= MEMORY_TOLERANCE * right for one in said):
        yield claim(scene.lines, token, token, kind, "rounded", **facts, reason=because(mark("rounded")))
    elif all(one > right * far or one * far < right for one in said):
        direction = should_be(is_higher=mine > right)
        reason = because(direction, right=write_bytes(token, right, 1000), number=write_bytes(token, abs(said[-1] - right), 1000))
        yield claim(scene.lines, token, token, kind, "wrong", **facts, reason=reason)


_EXACT = 3
"""Digits from which on a figure beside a count of as many is no loose rounding."""
