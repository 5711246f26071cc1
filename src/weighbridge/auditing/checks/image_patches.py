"""Patches of an image and the tokens that they make: ``224×224 in 16×16 patches gives 14 × 14 = 196 patches, 197 tokens with [CLS]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.checks.image_grids import Grid, grids_near, grids_of_line, grids_of_text
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_COUNT = pattern(
    r"(?<![\w.×*/,-])(?<![×*]\s)(?P<patches>\d{1,3}(?:,\d{3})+|\d{1,5})(?![\d.,]*\d)[* ]{1,3}(?:non-overlapping |image |flattened |square |such )*patch(?:es)?\b(?! size| token)"
    r"|(?<![\w.×*/,-])(?<![×*]\s)(?P<tokens>\d{1,3}(?:,\d{3})+|\d{1,5})(?![\d.,]*\d)[* ]{1,3}(?:visual |image |input |patch )*tokens?\b"
    r"|(?<![\d.×x*/,])(?P<number>\d{2,5})(?![\d.,]*\d)\s?个\s?(?:图像|视觉)?\s?(?:patch(?:es)?(?: tokens?| embeddings?)?|图像块|小块)"
    r"|(?<![\d.×x*/,])(?P<sequence>\d{2,5})(?![\d.,]*\d)\s?个\s?(?:序列|图像|视觉|CLIP)?\s?tokens?(?![A-Za-z])"
    r"|(?:加上?|连同|再加|含)[^,，。;；\d]{0,12}(?:cls|class)[^,，。;；\d]{0,8}(?:共|一共|总共|是|为|得到|变成)?\s?(?P<whole>\d{2,5})(?![\d.×x*])"
    r"|序列长度(?:就?[是为]|=|:|变[为成])\s?(?P<length>\d{2,5})(?!\s?[+×x*\d.])",
    re.IGNORECASE,
)
_SIGNS = ("atch", "块", "oken", "序列", "cls", "CLS", "class")
"""One of these stands in every line that counts patches."""
_CLASS = pattern(r"cls|class|分类", re.IGNORECASE)
_SPECIAL = 6
"""Tokens that a model may add to those of its patches: [CLS], a distillation token, four registers."""
_OTHERWISE = pattern(
    r"transformer\s?(?:blocks?|块|模块|层)|mask|掩|遮|剩|保留|丢|随机|采样|可见|每[行列边个]|合并|窗口|window|pool|池化|蒸馏|distill|register|寄存|视频|帧|frame|压缩|文本|text|prompt|提示|语言|音频|query|查询|个样本|batch|平均|最多|至少|超过|约",
    re.IGNORECASE,
)
"""Words of a Chinese sentence by which other patches are counted than those that an image is cut into."""
_MERGED = pattern(
    r"merg|pool|downsampl|compress|resampl|shuffl|tiles?\b|crops?\b|frames?\b|video|audio|text tokens|stride|overlapping(?<!non-overlapping)|3d|windows?\b|per (?:window|side|row)|keep|mask|drop|random",
    re.IGNORECASE,
)
"""Words of an English line by which they are."""
_HAN = pattern("[\u4e00-\u9fff]")
_FAR = 3
"""How many times a number may be off and still be meant for that of the patches."""
_BEFORE = 24


def check(scene: Scene) -> Iterator[Claim]:
    """Hold counts of patches and of their tokens against the one grid that their lines tell, or those above, or the whole text."""
    told: set[Grid] | None = None
    for index in scene.counted_lines:
        text = scene.texts[index]
        if "|" in text or not any(sign in text for sign in _SIGNS) or not (counts := list(_COUNT.finditer(text))):
            continue
        chinese = _HAN.search(text) is not None
        if not chinese and _MERGED.search(text):
            continue
        grids, plain = grids_near(scene, index), len(grids_of_line(scene, index)) == 1
        if not grids and not chinese:
            told = grids_of_text(scene) if told is None else told
            grids, plain = told, True
        if len(grids) == 1 and all(m.kind == MODEL for m in scene.mentions.get(index, ())):
            for found in counts:
                if not (chinese and _OTHERWISE.search(text, *sentence_of(text, found.start()))):
                    yield from _hold(scene, index, found, next(iter(grids)), plain=plain)


def _hold(scene: Scene, index: int, found: re.Match[str], grid: Grid, *, plain: bool) -> Iterator[Claim]:
    group, text = str(found.lastgroup), scene.texts[index]
    value, patches = int(found[group].replace(",", "")), grid.high * grid.wide
    with_class = group == "whole" or (group not in _OF_PATCHES and _CLASS.search(text, max(0, found.start() - _BEFORE), found.start()))
    fair = _fair_counts(group, patches, with_class=bool(with_class))
    token = Token("num", found[group], index, *found.span(group))
    if value in fair:
        yield claim(scene.lines, token, token, "arithmetic", "exact", value=value, expected=value, difference=0)
        return
    near = patches < value * _FAR and value < patches * _FAR
    if value not in grid and value > 1 and ((plain and near) or any(is_slip(str(value), str(right)) for right in fair)):
        right = patches + 1 if with_class else patches
        title = mark("number of patches, with what is added to them") if with_class else mark("number of patches")
        reason = because(mark("{what} is {right}"), what=Sentence(title), right=right)
        yield claim(scene.lines, token, token, "arithmetic", "wrong", value=value, expected=right, difference=value - right, reason=reason)


_OF_PATCHES = ("patches", "number")
"""The counts that are of patches, and of no tokens."""


def _fair_counts(group: str, patches: int, *, with_class: bool) -> range:
    """Return what a count may be: the patches, and where it may be of tokens, those with what a model adds to them."""
    if with_class and group != "tokens":
        return range(patches + 1, patches + 2)
    return range(patches, patches + 1 + {"patches": 0, "tokens": _SPECIAL}.get(group, 1))
