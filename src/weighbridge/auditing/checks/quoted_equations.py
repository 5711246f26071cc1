"""Equations that nobody claims: a text that code hands on, and a product that is the condition of what follows."""

from __future__ import annotations

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain

_HANDED = pattern(r"""\w\(\\?["']\s*$""")
_CLOSED = pattern(r"""\s*\\?["']\s*[,)]""")
"""What stands about a text that is an argument of a call, in a notebook with its escapes."""
_WHEN = pattern(r"\s?(?:的?(?:分辨率|图像|输入|大小|长度))?(?:时|下)[^\d=≈]{1,24}[=≈]")
"""Behind a product that is a condition, before what is then equal to something."""


def is_under_condition(scene: Scene, chain: Chain) -> bool:
    """Tell whether the first side says when the others are so: ``图像 1288×1288 时 token 数 = (1288/28)²``."""
    if len(chain.sides) < 2:
        return False
    last, following = chain.tokens[chain.sides[0].end - 1], chain.tokens[chain.sides[1].start]
    return last.line == following.line and _WHEN.match(scene.lines[last.line].text, last.end, following.start) is not None


def is_argument(scene: Scene, chain: Chain) -> bool:
    """Tell whether an equation is all of a text that code hands on: ``tokenize("2342+2017=21445")``."""
    first, last = chain.tokens[chain.sides[0].start], chain.tokens[chain.end - 1]
    text = scene.lines[first.line].text
    return first.line == last.line and _HANDED.search(text, 0, first.start) is not None and _CLOSED.match(text, last.end) is not None
