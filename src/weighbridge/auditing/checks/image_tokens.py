"""Patches of an image and the tokens that they make: ``a 224×224 image in 16×16 patches gives 14 × 14 = 196 patches, 197 tokens with [CLS]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_SQUARE = pattern(
    r"(?<![\w.×*])(?P<side>\d{1,4})\s?[×x*]\s?(?P=side)(?![\w.]*\d|\s?[×x*]\s?[\d(])(?:\s?(?:px|pixels?))?(?P<patch>[- ](?:pixel )?patch(?:es)?\b)?",
    re.IGNORECASE,
)
_IMAGE = pattern(r"\b(?P<side>\d{3,4})(?:[- ]?px|[- ]pixels?)\b|\bat (?P<at>\d{3,4})\b", re.IGNORECASE)
_PATCH = pattern(
    r"patch(?:es)?(?: size)?(?: of| is|:| =)?(?: size)? (?P<side>\d{1,2})(?![\d.,]*\d|\s?[×x*]\s?\d)|(?<![A-Za-z])ViT-\w{1,3}/(?P<of>\d{1,2})\b",
    re.IGNORECASE,
)
_PATCHES = pattern(
    r"(?<![\w.×*/-])(?<![×*]\s)(?P<number>\d{1,3}(?:,\d{3})+|\d{1,5})[* ]{1,3}(?:non-overlapping |image |flattened |square |such )*patch(?:es)?\b(?! size| token)",
    re.IGNORECASE,
)
_TOKENS = pattern(
    r"(?<![\w.×*/-])(?<![×*]\s)(?P<number>\d{1,3}(?:,\d{3})+|\d{1,5})[* ]{1,3}(?:visual |image |input |patch )*tokens?\b", re.IGNORECASE
)
_LEAST_IMAGE, _MOST_PATCH = 64, 64
_SPECIAL = 6
"""Tokens that a model may add to those of its patches: [CLS], a distillation token, four registers."""
_MERGED = pattern(
    r"merg|pool|downsampl|compress|resampl|shuffl|tiles?\b|crops?\b|frames?\b|video|audio|text tokens|stride|overlapping(?<!non-overlapping)|3d|windows?\b|per (?:window|side|row)|keep|mask|drop|random",
    re.IGNORECASE,
)


class _Grid(NamedTuple):
    """An image's side and a patch's."""

    image: int
    patch: int


def check(scene: Scene) -> Iterator[Claim]:
    """Check the patches and tokens of lines that say one image and one patch, or whose text does."""
    said = _only_grid(" ".join(scene.texts[index] for index in scene.counted_lines if "patch" in scene.texts[index].lower()))
    for index in scene.counted_lines:
        text = scene.texts[index]
        if "patch" not in text.lower() or _MERGED.search(text) or _HAN.search(text):
            continue  # Chinese lines are read by ``patch_counts``
        grid = _only_grid(text) or said
        if grid is None or grid.image % grid.patch:
            continue
        number = (grid.image // grid.patch) ** 2
        for found in _PATCHES.finditer(text):
            yield from _hold(scene, index, found, number, 0)
        for found in _TOKENS.finditer(text):
            yield from _hold(scene, index, found, number, _SPECIAL)


def _only_grid(text: str) -> _Grid | None:
    """Return the one image and the one patch that a text says."""
    images, patches = set(), set()
    for square in _SQUARE.finditer(text):
        side = int(square["side"])
        if square["patch"] and side <= _MOST_PATCH:
            patches.add(side)
        elif side >= _LEAST_IMAGE:
            images.add(side)
    images |= {int(found["side"] or found["at"]) for found in _IMAGE.finditer(text)}
    patches |= {int(found["side"] or found["of"]) for found in _PATCH.finditer(text)}
    images = {side for side in images if side >= _LEAST_IMAGE}
    return _Grid(images.pop(), patches.pop()) if len(images) == len(patches) == 1 and 0 not in patches else None


def _hold(scene: Scene, index: int, found: re.Match[str], right: int, more: int) -> Iterator[Claim]:
    number = int(found["number"].replace(",", ""))
    token = Token("num", found["number"], index, *found.span("number"))
    fair = right <= number <= right + more
    near = right < number * _FAR and number < right * _FAR
    facts: dict[str, object] = {"value": number, "expected": right, "difference": number - right}
    if fair:
        facts |= {"expected": number, "difference": 0}
        yield claim(scene.lines, token, token, "arithmetic", "exact", **facts)
    elif near:
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=because(mark("it is {right}"), right=right))


_HAN = pattern("[\u4e00-\u9fff]")
_FAR = 3
"""How many times a number may be off and still be meant for that of the patches."""
