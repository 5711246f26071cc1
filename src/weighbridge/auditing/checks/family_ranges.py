"""The range of what a complete family has: ``T5 有 5 种规模，参数量从 6000 万到 110 亿``; each end is a member's, and wrong where no member has it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from weighbridge.auditing.checks.closed_families import report_no_member
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.family_lists import is_closed
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.presets.aliases import FAMILY


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold both ends of a range of parameters against the members of the family that its line, or else the text, is about.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    counts = [one.token for one in scene.sorted_figures.plain_counts if one.token.unit and one.token.line not in tabled]
    for low, high in pairwise(counts):
        if low.line != high.line or scene.given:
            continue
        text = scene.lines[low.line].text
        said = _AHEAD.search(text, 0, low.start) is not None or {low.unit, high.unit} <= _PLAIN_UNITS
        family = _family(scene, low) if said and _TO.fullmatch(text, low.end, high.start) else None
        if family is not None and not is_of_their_own(scene, low.line):
            yield from _judge(scene, family, (low, high))


def _judge(scene: Scene, family: Mention, ends: tuple[Token, Token]) -> Iterator[Claim]:
    """Judge the ends; one that no member has is wrong where the other is a member's, for the range is then the family's."""
    subject = of_mention(scene, family, firm=False)
    if subject is None:
        return
    held = [(token, settle(token, subject.models, hedged=False, whole=True)) for token in ends]
    if all(found is None for _, found in held):
        return
    for token, found in held:
        if found is not None:
            yield total_claim(scene, token, found.verdict, found.expected, found.reason)
        else:
            yield from report_no_member(scene, token, subject.models)


def _family(scene: Scene, token: Token) -> Mention | None:
    """Return the closed family that a range is of: the last name before it on its line, or the only one of the text."""
    text, named = scene.lines[token.line].text, scene.mentions.get(token.line, ())
    if named:
        before = [one for one in named if one.end <= token.start]
        parted = any(words.search(text, before[-1].end, token.start) for words in (ANOTHER, _PARTED)) if before else True
        return None if parted else _whole_family(before[-1])
    found = [one for mentions in scene.mentions.values() for one in mentions]
    widest = max(found, key=lambda one: len(one.names), default=None)
    return _whole_family(widest) if widest is not None and all(set(one.names) <= set(widest.names) for one in found) else None


def _whole_family(mention: Mention) -> Mention | None:
    """Return a mention as that of a closed family, where it names one: ``T5`` in a text about T5-Base is still all of them in a range."""
    family = mention._replace(name=None, kind=FAMILY)
    return family if len(mention.names) > 1 and is_closed(family) else None


_AHEAD = pattern(
    r"(?:(?:参数|规模|大小|尺寸)(?:总?量|数量?|规模|范围)?(?:范围)?(?:可以?|都)?(?:从|由|在|介于|为|是|覆盖|涵盖|[:：]|\s|大?约)*|\bfrom\s|\bbetween\s|\brang\w+ (?:in size )?(?:from\s)?)[\s*_`~≈约]*$",
    re.IGNORECASE,
)
_PLAIN_UNITS = frozenset("bm")
"""Units in which two counts are a range without a word for parameters: ``LLaMA   开源基座   7B~65B``."""
_TO = pattern(r"\s?(?:个?参数|param(?:eter)?s?)?[\s*_`]*(?:到|至|~|～|–|—|-|\bto\b|\band\b|不等)[\s*_`~≈约]*", re.IGNORECASE)
"""Before the lower end, and between the two."""
_PARTED = pattern(
    r"[。;；!！?？|]|\.(?!\d)|相比|比|基于|微调|训练|后继|前身|作者|团队|之外|以外|除了?|我们|学生|衍生|变体|\b(?:beyond|besides|successors?|other|from the authors|trained|than|like)\b",
    re.IGNORECASE,
)
