"""Which number of a line that PEFT prints is mistyped: ``trainable params: 5,194,304 || all params: 6,742,609,920 || trainable%: 0.0622``."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.lora_configs import ELSE, OPENS, RANK, last_line
from weighbridge.auditing.checks.scene import Scene

_REACH = 60
_SHARE_DIGITS = 3
"""Digits that a share shows at least before it tells which count is mistyped."""


def mistyped_count(trainable: int, everything: int, share: str) -> str:
    """Return which of the two counts is one digit off one that makes the share right, where only one of the three numbers is.

    >>> mistyped_count(5_194_304, 6_742_609_920, "0.0622"), mistyped_count(4_194_304, 6_742_609_920, "0.0722")
    ('trainable', '')
    """
    places = len(share.partition(".")[2])
    value, unit = Fraction(share), Fraction(1, 10**places)
    if len(share.replace(".", "").strip("0")) < _SHARE_DIGITS or _is_one_off(share, Fraction(100 * trainable, everything), places):
        return ""

    def fits(part: int, whole: int) -> bool:
        return whole > 0 and abs(Fraction(100 * part, whole) - value) < unit

    found = [
        *("trainable" for one in _one_digit_off(trainable) if fits(one, everything)),
        *("all" for one in _one_digit_off(everything) if fits(trainable, one)),
    ]
    return found[0] if found and len(set(found)) == 1 else ""


def _is_one_off(share: str, right: Fraction, places: int) -> bool:
    written = str(int(Fraction(share) * 10**places))
    meant = {str(int(right * 10**places)), str(round(right * 10**places))}
    return any(len(one) == len(written) and sum(a != b for a, b in zip(one, written, strict=True)) <= 1 for one in meant)


def _one_digit_off(number: int) -> Iterator[int]:
    written = str(number)
    for place, digit in enumerate(written):
        for other in "0123456789":
            if other != digit and (place or other != "0"):
                yield int(written[:place] + other + written[place + 1 :])


def rank_above(scene: Scene, index: int) -> int:
    """Return the rank of the one LoRA config above a line that trains nothing beside it; of all that such an adapter trains it is a factor."""
    ranks = set()
    for first in range(max(0, index - _REACH), index):
        text = scene.lines[first].text
        if "ora" in text and OPENS.search(text):
            code = "\n".join(line.raw.partition("#")[0] for line in scene.lines[first : last_line(scene, first) + 1])
            found = RANK.search(code)
            if found is None or ELSE.search(code) or "lora_" not in code:
                return 0
            ranks.add(int(found[1]))
    return ranks.pop() if len(ranks) == 1 else 0
