"""A size that a text says twice, beside itself: a setting, and the words that explain it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.said_sizes import SaidSize
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize


def is_said_again(scene: Scene, line: int, size: DescribedSize, same: Sequence[tuple[int, DescribedSize]]) -> bool:
    """Tell whether a number only says again what a setting says, in parentheses beside it or on the line above, but for one digit.

    Args:
        line: The line of the size.
        same: Sizes of its kind that are the model's, with their lines.
    """
    text = scene.lines[line].text
    for place, other in same:
        if not is_slip(str(size.value), str(other.value)):
            continue
        first, last = sorted((size, other), key=lambda one: one.start)
        if place == line and _IN_PARENTHESES.fullmatch(text, first.end, last.start):
            return True
        if line == place + 1 and _SETS.search(scene.lines[place].text, 0, other.start) and _IT_HAS.fullmatch(text, 0, size.start):
            return True
    return False


def is_said_in_both(said: SaidSize, passage: Sequence[SaidSize]) -> bool:
    """Tell whether two lines describe the model alike and differ in one digit: ``24 layers and 36 heads``, below it ``24-layer with 16 heads``."""
    same = [one for one in passage if one.own and one.size.word == said.size.word]
    beside = {(one.size.word, one.size.value) for one in passage if one.line == said.line and one.own}
    return any(
        is_slip(str(said.size.value), str(other.size.value))
        and any(one.line == other.line != said.line and one.own and (one.size.word, one.size.value) in beside for one in passage)
        for other in same
    )


_IN_PARENTHESES = pattern(r"[^\d,，。;；()（）]{1,16}[(（]\s?[`'\"]?\w+[`'\"]?\s?[=:：]\s?", re.IGNORECASE)
_SETS = pattern(r"\w[*_`'\"”\s]{0,4}[:：=][*_`'\"\s]{0,4}$")
_IT_HAS = pattern(
    r"\W*(?:(?:该|这个)?模型|每一?层|一?共|总共|网络|the model|it|each layer)\s?(?:有|共有|包含|has|uses|contains)\s?", re.IGNORECASE
)
"""Between a number and its setting in parentheses, at the end of a setting's name, and before a number by which the next line explains it."""
