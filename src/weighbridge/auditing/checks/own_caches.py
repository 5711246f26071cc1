"""The key-value cache of a model that a text describes itself: ``24 层、16 个头、head_dim = 64、fp16`` and what it says that takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from weighbridge.auditing.checks.own_models import OwnModels, own_models
from weighbridge.auditing.checks.own_readings import OwnSizes
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, whole
from weighbridge.core.messages import mark

_CACHE = any_word(r"kv[ _-]?cache|key[-/ ]value cache|kv ?缓存|键值缓存")
_OTHERWISE = any_word(
    r"\b(?:weights?|parameters|gradients?|optimi[sz]er|activations?|vram|gpu|total memory|mla|latent|window|paged|block size|compress\w*|quanti[sz]\w*|saves?|saved|reduc\w*|instead|would|if|llama|mqa)\b|权重|参数|梯度|优化器|激活|显存共|压缩|量化|节省|减少|如果|若"
)
_DTYPES = (
    (2, any_word(r"\b(?:fp16|bf16|float16|bfloat16|half precision|2[- ]bytes?|two bytes)\b|半精度|2 ?个?字节")),
    (4, any_word(r"\b(?:fp32|float32|4[- ]bytes?)\b|单精度|4 ?个?字节")),
    (1, any_word(r"\b(?:int8|fp8|1[- ]byte)\b")),
)
_LENGTH = pattern(
    r"(?:序列长度?|上下文(?:长度|窗口)?|长度|seq(?:uence)?[ _]?len(?:gth)?|context(?: length| window| of)?|sequences? of|max_len|s)\D{0,12}?(?P<first>\d{1,3}(?:,\d{3})+|\d{3,7})(?!\d)|(?<![\d.,])(?P<second>\d{1,3}(?:,\d{3})+|\d{3,7})\s?(?:个\s?)?(?:tokens?\b|词元|positions)|(?<![\d.,])(?P<third>\d{1,3})\s?[Kk](?![A-Za-z])",
    re.IGNORECASE,
)
_BATCH = pattern(
    r"batch(?:[ _-]?size)?\s?(?:为|是|of|=|:)?\s?(?P<number>\d{1,4})(?!\d)|(?<!\d)(?P<more>\d{1,4}) (?:sequences|requests|users)\b|批(?:大小|量)?\s?(?:为|是|=)?\s?(?P<last>\d{1,4})(?!\d)",
    re.IGNORECASE,
)
_REACH = 3
"""Lines below a word for the cache that are still about it."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the bytes that lines about a cache give: some reading of the sizes, dtypes, lengths and batches of the text, or one digit from one."""
    found = scene.sorted_figures.in_bytes
    own = own_models(scene, least=_LEAST) if found and any(map(_CACHE.search, scene.texts)) else None
    if own is None or own.odd:
        return
    sizes = [one for model in own.models for one in own.readable(model)]
    units = {count for one in sizes if (count := _values_of_token(one, own)) is not None}
    text = "\n".join(scene.texts)
    dtypes = [size for size, words in _DTYPES if words.search(text)] or [2, 4, 1]
    lengths, batches = _numbers(_LENGTH, text), _numbers(_BATCH, text)
    right = (
        {count * size * length * batch for count, size, length, batch in product(units, dtypes, lengths, batches)}
        if len(lengths) * len(batches) <= _MOST
        else set()
    )
    for figure in found if right else ():
        if _is_of_cache(scene, figure.token):
            yield from _claims(scene, figure.token, right, {one.layers for one in sizes})


_LEAST, _MOST = 2, 64


def _values_of_token(sizes: OwnSizes, own: OwnModels) -> int | None:
    """Return how many values a token leaves in the cache of all layers."""
    heads = sizes.kv_heads or (0 if own.grouped else sizes.heads)
    head_dim = sizes.head_dim or (sizes.hidden // sizes.heads if sizes.hidden and sizes.heads and sizes.hidden % sizes.heads == 0 else 0)
    width = heads * head_dim or (sizes.hidden if not own.grouped else 0)
    return 2 * sizes.layers * width if sizes.layers and width else None


def _numbers(words: re.Pattern[str], text: str) -> Sequence[int]:
    """Return the lengths, or the batches, that a text states, and one."""
    found = {1}
    for one in words.finditer(text):
        number = int((one[one.lastgroup or 0]).replace(",", ""))
        found |= {number * 1024, number * 1000} if one.lastgroup == "third" else {number}
    return sorted(found)


def _is_of_cache(scene: Scene, token: Token) -> bool:
    text = scene.texts[token.line]
    near = scene.texts[max(0, token.line - _REACH) : token.line + 1]
    return (
        any(map(_CACHE.search, near))
        and not any(map(_OTHERWISE.search, near[-1:]))
        and not any(m.names for m in scene.mentions.get(token.line, ()))
        and bool(text)
    )


def _claims(scene: Scene, token: Token, right: set[int], layers: set[int]) -> Iterator[Claim]:
    number = likeliest_value(token)
    assert number is not None
    fair = [count for count in sorted(right) if (agreed := fit(token, count)) is not None and "bytes for each" not in str(agreed.reason)]
    facts: dict[str, object] = {"value": whole(number), "reason": because(mark("the sizes that the text states give it"))}
    if fair:
        yield claim(scene.lines, token, token, "total", "rounded", **facts, expected=fair[0], difference=whole(number - fair[0]))
        return
    parts = {part for count in right for layer in layers if layer for part in (count // 2, count // layer, count // layer // 2)}
    digits = re.sub(r"\D", "", token.text)
    slips = [
        count
        for count in sorted(right)
        for scale in scales(token)
        if is_slip(digits, str(round(Fraction(count) / scale * 10**token.places))) and _is_shown(count, scale, token)
    ]
    if slips and not any(fit(token, part) is not None for part in parts):
        facts["reason"] = because(mark("with the sizes that the text states, the cache takes {right} bytes"), right=slips[0])
        yield claim(scene.lines, token, token, "total", "wrong", **facts, expected=slips[0], difference=whole(number - slips[0]))


def _is_shown(count: int, scale: Fraction, token: Token) -> bool:
    """Tell whether a figure of so many places would show a count without a rest that is worth a word."""
    shown = Fraction(count) / scale * 10**token.places
    return bool(abs(shown - round(shown)) * 100 <= shown)
