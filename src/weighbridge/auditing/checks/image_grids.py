"""Into how many patches an image is cut each way, by the sizes of images and patches that lines say or that the models they name have."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL

_PAIR = pattern(
    r"(?<![\d.×x*])(?P<high>\d{2,4})\s?[×x*]\s?(?P<wide>\d{2,4})(?:\s?[×x*]\s?3)?(?!\d|\.\d|\s?[×x*]\s?[\d(]|\s?=)", re.IGNORECASE
)
_SIDE = pattern(
    r"(?P<side>\d{2,4})\s?(?:的?分辨率|输入|px|像素|resolution)|(?:分辨率|resolution)(?:为|是|of)?\s?(?P<resolution>\d{2,4})(?!\s?[×x*\d])"
    r"|\b(?P<pixels>\d{3,4})(?:[- ]?px|[- ]pixels?)\b|\bat (?P<at>\d{3,4})\b",
    re.IGNORECASE,
)
_PATCH = pattern(
    r"patch(?:_size| size|\s?(?:的)?(?:大小|尺寸|边长))?\s?(?:为|是|取|=|:)?\s?(?P<patch>\d{1,2})(?![\d.]|\s?[个×x*])"
    r"|patch(?:es)?(?: size)?(?: of| is|:| =)?(?: size)? (?P<of>\d{1,2})(?![\d.,]*\d|\s?[×x*]\s?\d)"
    r"|(?<![A-Za-z])ViT-\w{1,3}/(?P<name>\d{1,2})\b|(?<![\w.×*])(?P<square>\d{1,2})\s?[×x*]\s?(?P=square)[- ](?:pixel )?patch(?:es)?\b",
    re.IGNORECASE,
)
_OF_PATCHES = pattern(r"patch|切|块", re.IGNORECASE)
_USUAL = 224
"""The side that most models of images are called by, whatever side the one at hand was tuned to."""
_RESIZED = pattern(
    r"(?:分辨率|尺寸|图[像片]|输入|resolution|image size)[^,，。;；]{0,16}(?:从|由|提[高升]|增[加大]|升|放大|换成|改[为成]|变|from|increas|rais|chang)[^。;；]{0,16}\d{3}",
    re.IGNORECASE,
)
"""Images of another size than the model's own: ``分辨率从 224 提高到 384``."""
_ABOVE = 6
_LARGEST_PATCH = 64


class Grid(NamedTuple):
    """How many patches an image has each way."""

    high: int
    wide: int


def grids_of_line(scene: Scene, line: int) -> set[Grid]:
    """Return the grids that a line alone says."""
    return _grids(*_sizes(scene, line))


def grids_near(scene: Scene, index: int) -> set[Grid]:
    """Return the grids that a line says with those right above it, in its own section."""
    images: set[tuple[int, int]] = set()
    patches: set[int] = set()
    for line in range(index, max(-1, index - _ABOVE - 1, scene.headings[index] - 1 if scene.headings else -1), -1):
        more_images, more_patches = _sizes(scene, line)
        images, patches = images or more_images, patches or more_patches
        if images and patches:
            break
    return _grids(images, patches)


def grids_of_text(scene: Scene) -> set[Grid]:
    """Return the grids of all images and patches that lines on patches say, whatever models they name."""
    images: set[tuple[int, int]] = set()
    patches: set[int] = set()
    for index in scene.counted_lines:
        if "patch" in scene.texts[index].lower():
            more_images, more_patches = _said_sizes(scene.texts[index])
            images |= more_images
            patches |= more_patches
    return _grids(images, patches) if len(images) == len(patches) == 1 else set()


def _grids(images: set[tuple[int, int]], patches: set[int]) -> set[Grid]:
    return {
        Grid(high // patch, wide // patch)
        for high, wide in images
        for patch in patches
        if high % patch == 0 and wide % patch == 0 and patch < high
    }


def _said_sizes(text: str) -> tuple[set[tuple[int, int]], set[int]]:
    """Return the sizes of images and of patches that a line says."""
    pairs = [(int(one["high"]), int(one["wide"])) for one in _PAIR.finditer(text)]
    sides = {int(next(filter(None, one.groups()))) for one in _SIDE.finditer(text)}
    small = {high for high, wide in pairs if high == wide and high <= _LARGEST_PATCH and _OF_PATCHES.search(text)}
    images = {pair for pair in pairs if min(pair) > _LARGEST_PATCH} | {(side, side) for side in sides if side > _LARGEST_PATCH}
    patches = {int(next(filter(None, one.groups()))) for one in _PATCH.finditer(text)} - {0, 1}
    grids = {high // patch for high, _ in images for patch in (*patches, *small) if high % patch == 0}
    patches |= small - grids if len(small) > 1 else small
    return images, patches


def _sizes(scene: Scene, line: int) -> tuple[set[tuple[int, int]], set[int]]:
    """Return the sizes of images and of patches that a line says, or that the models it names have."""
    text = scene.lines[line].text
    images, patches = _said_sizes(text)
    for mention in scene.mentions.get(line, ()):
        subject = of_mention(scene, mention, firm=False) if mention.kind == MODEL else None
        for model in subject.models if subject is not None else ():
            if not patches:
                patches |= set(values_of(model, "patch"))
            if not images and not _RESIZED.search(text):
                sides = set(values_of(model, "image"))
                images |= {(side, side) for side in sides | ({_USUAL} if not any(str(side) in text for side in sides) else set())}
    return images, patches
