"""How many patches an image is cut into, and how long their sequence is: ``224×224 的图像切成 16×16 的 patch，共 196 个，加 cls 197 个``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_IMAGE = pattern(r"(?<![\d.×x*])(?P<high>\d{2,4})\s?[×x*]\s?(?P<wide>\d{2,4})(?:\s?[×x*]\s?3)?(?![\d.]|\s?[×x*]\s?\d|\s?=)", re.IGNORECASE)
_SIDE = pattern(
    r"(?P<side>\d{2,4})\s?(?:的?分辨率|输入|px|像素|resolution)|(?:分辨率|resolution)(?:为|是|of)?\s?(?P<resolution>\d{2,4})(?!\s?[×x*\d])",
    re.IGNORECASE,
)
_PATCH = pattern(
    r"patch(?:_size| size|\s?(?:的)?(?:大小|尺寸|边长))?\s?(?:为|是|取|=|:)?\s?(?P<patch>\d{1,2})(?![\d.]|\s?[个×x*])", re.IGNORECASE
)
_OF_PATCHES = pattern(r"patch|切|块", re.IGNORECASE)
_COUNT = pattern(
    r"(?<![\d.×x*/,])(?P<number>\d{2,5})(?![\d.,]*\d)\s?(?:个\s?(?:图像|视觉)?\s?(?:patch(?:es)?(?: tokens?| embeddings?)?|图像块|小块)|\s(?:non-overlapping |image )?patches\b)"
    r"|(?<![\d.×x*/,])(?P<tokens>\d{2,5})(?![\d.,]*\d)\s?个\s?(?:序列|图像|视觉|CLIP)?\s?tokens?(?![A-Za-z])"
    r"|(?:加上?|连同|再加|含)[^,，。;；\d]{0,12}(?:cls|class)[^,，。;；\d]{0,8}(?:共|一共|总共|是|为|得到|变成)?\s?(?P<whole>\d{2,5})(?![\d.×x*])"
    r"|序列长度(?:就?[是为]|=|:|变[为成])\s?(?P<length>\d{2,5})(?!\s?[+×x*\d.])",
    re.IGNORECASE,
)
_CLASS = pattern(r"cls|class|分类", re.IGNORECASE)
_OTHERWISE = pattern(
    r"transformer\s?(?:blocks?|块|模块|层)|mask|掩|遮|剩|保留|丢|随机|采样|可见|每[行列边个]|合并|窗口|window|pool|池化|蒸馏|distill|register|寄存|视频|帧|frame|压缩|文本|text|prompt|提示|语言|音频|query|查询|个样本|batch|平均|最多|至少|超过|约",
    re.IGNORECASE,
)
"""Words of a line by which other patches are counted than those that an image is cut into."""
_SIGNS = ("atch", "块", "oken", "序列", "cls", "CLS", "class")
"""One of these stands in every line that counts patches."""
_USUAL = 224
"""The side that most models of images are called by, whatever side the one at hand was tuned to."""
_RESIZED = pattern(
    r"(?:分辨率|尺寸|图[像片]|输入|resolution|image size)[^,，。;；]{0,16}(?:从|由|提[高升]|增[加大]|升|放大|换成|改[为成]|变|from|increas|rais|chang)[^。;；]{0,16}\d{3}",
    re.IGNORECASE,
)
"""Images of another size than the model's own: ``分辨率从 224 提高到 384``."""
_ABOVE = 6
_LARGEST_PATCH = 64


def check(scene: Scene) -> Iterator[Claim]:
    """Hold counts of patches against the one size of images and the one of patches that their lines, or those above, tell."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if "|" in text or not any(sign in text for sign in _SIGNS) or not (counts := list(_COUNT.finditer(text))):
            continue
        grids = _grids(scene, index)
        if len(grids) == 1 and all(m.kind == MODEL for m in scene.mentions.get(index, ())):
            (grid,) = grids
            plain = len(_combine(*_sizes(scene, index))) == 1
            for found in counts:
                if _OTHERWISE.search(text, *sentence_of(text, found.start())):
                    continue
                yield from _hold(scene, index, found, grid, plain=plain)


def _hold(scene: Scene, index: int, found: re.Match[str], grid: tuple[int, int], *, plain: bool) -> Iterator[Claim]:
    text = scene.lines[index].text
    group = str(found.lastgroup)
    value, patches = int(found[group]), grid[0] * grid[1]
    with_class = group == "whole" or (_CLASS.search(text, max(0, found.start() - _BEFORE), found.start()) is not None and group != "number")
    fair = {patches + 1} if with_class else {patches} if group == "number" else {patches, patches + 1}
    token = Token("num", "", index, *found.span(group))
    if value in fair or (group == "number" and value == patches + 1):
        yield claim(scene.lines, token, token, "arithmetic", "exact", value=value, expected=value, difference=0)
    elif value not in grid and value > 1 and (plain or any(is_slip(str(value), str(right)) for right in fair)):
        right = patches + 1 if with_class else min(fair, key=lambda one: abs(one - value))
        reason = because(
            mark("{what} is {right}"),
            what=Sentence(mark("number of patches, with what is added to them") if with_class else mark("number of patches")),
            right=right,
        )
        yield claim(scene.lines, token, token, "arithmetic", "wrong", value=value, expected=right, difference=value - right, reason=reason)


_BEFORE = 24


def _grids(scene: Scene, index: int) -> set[tuple[int, int]]:
    """Return how many patches an image has each way: by the line itself, or with what the lines right above it say."""
    images: set[tuple[int, int]] = set()
    patches: set[int] = set()
    for line in range(index, max(-1, index - _ABOVE - 1, scene.headings[index] - 1 if scene.headings else -1), -1):
        more_images, more_patches = _sizes(scene, line)
        images, patches = images or more_images, patches or more_patches
        if images and patches:
            break
    return _combine(images, patches)


def _combine(images: set[tuple[int, int]], patches: set[int]) -> set[tuple[int, int]]:
    return {
        (high // patch, wide // patch)
        for high, wide in images
        for patch in patches
        if high % patch == 0 and wide % patch == 0 and patch < high
    }


def _sizes(scene: Scene, line: int) -> tuple[set[tuple[int, int]], set[int]]:
    """Return the sizes of images and of patches that a line says, or that the models it names have."""
    text = scene.lines[line].text
    pairs = [(int(one["high"]), int(one["wide"])) for one in _IMAGE.finditer(text)]
    sides = {int(one["side"] or one["resolution"]) for one in _SIDE.finditer(text)}
    small = {high for high, wide in pairs if high == wide and high <= _LARGEST_PATCH and _OF_PATCHES.search(text)}
    images = {pair for pair in pairs if min(pair) > _LARGEST_PATCH} | {(side, side) for side in sides if side > _LARGEST_PATCH}
    patches = {int(one["patch"]) for one in _PATCH.finditer(text)} - {0, 1}
    grids = {high // patch for high, _ in images for patch in (*patches, *small) if high % patch == 0}
    patches |= small - grids if len(small) > 1 else small
    for mention in scene.mentions.get(line, ()):
        subject = of_mention(scene, mention, firm=False) if mention.kind == MODEL else None
        for model in subject.models if subject is not None else ():
            if not patches:
                patches |= set(values_of(model, "patch"))
            if not images and not _RESIZED.search(text):
                sides = set(values_of(model, "image"))
                images |= {(side, side) for side in sides | ({_USUAL} if not any(str(side) in text for side in sides) else set())}
    return images, patches
