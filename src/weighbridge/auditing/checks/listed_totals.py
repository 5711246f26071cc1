"""Counts in lists of models: behind names with nothing else, in parentheses behind sizes; what most of them settle makes one wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.cell_models import member_of
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.listed_items import Listed, hold_item
from weighbridge.auditing.checks.listed_sizes import LONGEST, hold, list_sizes
from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.names import SIZE_WORDS
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import SURE_COUNTS
from weighbridge.auditing.text.items import Item
from weighbridge.auditing.thresholds import FAMILY_REACH
from weighbridge.presets.aliases import FAMILY, MODEL


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check lists of names with nothing but a count each: what two and more rows settle makes another wrong."""
    group: list[tuple[Listed, Subject]] = []
    last = -9
    for index, named in sorted(scene.mentions.items()):
        text = scene.lines[index].text
        if index in tabled or len(named) != 1 or named[0].kind != MODEL or not _LISTED.match(text[: named[0].column]):
            continue
        if not _ALONE.match(text, named[0].end):
            continue
        subject = of_mention(scene, named[0], firm=True)
        found = list_sizes(scene, index, named[0].end, len(text), subject) if subject is not None else []
        if len(found) == 1 and found[0].item.kind == "total" and _ALONE.fullmatch(text[named[0].end : found[0].token.start]):
            if index - last > 2:
                yield from _judge_totals(scene, group)
                group = []
            group.append((found[0], subject))  # type: ignore[arg-type]
            last = index
    yield from _judge_totals(scene, group)
    yield from _judge_totals(scene, [(listed, subject) for _, listed, subject in _lines_led_by_sizes(scene, tabled)])
    for index in scene.counted_lines:
        if index not in tabled and len(scene.lines[index].text) <= LONGEST and _HAS_COUNT.search(scene.lines[index].text):
            yield from _judge_totals(scene, _in_parentheses(scene, index))


def _in_parentheses(scene: Scene, index: int) -> list[tuple[Listed, Subject]]:
    """Return the counts in parentheses behind names and sizes of one line: ``T5 comes as Small (60M), Base (220M) and ViT-Huge (632M)``."""
    text, named = scene.lines[index].text, scene.mentions.get(index, ())
    found = []
    for match in _counts_behind(text):
        mention = next((m for m in named if m.kind in (MODEL, FAMILY) and m.end == match.end("size")), None)
        subject = of_mention(scene, mention, firm=mention.kind == MODEL) if mention is not None else None
        if mention is None:
            families = _families_before(scene, index, match.start())
            subject = member_of(scene, re.sub(r"\s", "", match["size"]), families, firm=True) if families else None
        listed = hold_item(text, index, Item("total", *match.span("count")), subject) if subject is not None else None
        if listed is not None and subject is not None:
            found.append((listed, subject))
    return found


def _counts_behind(text: str) -> Iterator[re.Match[str]]:
    """Yield the counts behind names: looked for in the words before each count alone, of which a sentence has many more."""
    place = 0
    for count in _LABELLED_COUNT.finditer(text):
        first = count.start()
        while first > place and text[first - 1] in _OF_NAMES:
            first -= 1
        found = (match for at in range(first, count.start()) if (match := _COUNT_BEHIND.match(text, at)) is not None)
        match = next(found, None)
        if match is not None:
            yield match
            place = match.end()


_OF_NAMES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-*` \t")


def _families_before(scene: Scene, index: int, column: int) -> list[str]:
    """Return the family that is named last before a place, on its line or a few above."""
    for above in range(index, max(-1, index - FAMILY_REACH), -1):
        words = [scene.lines[above].text[m.column : m.end] for m in scene.mentions.get(above, ()) if above < index or m.end <= column]
        names = [word for word in words if SIZE_WORDS.fullmatch(word) is None]
        if names:
            return [family_of(names[-1])]
    return []


_HAS_COUNT = pattern(r"[\d,.]\s?(?:[MBmb]\b|[MmBb][Ii][Ll][Ll][Ii][Oo][Nn]|亿|万)")
"""What every line with such a count has."""
_LABELLED_COUNT = pattern(
    r"(?:[(（:：=约是为~≈]|\s(?:has|is|at)\s)\s?[~≈约]?\s?\d[\d,.]*\s?(?:[MB]\b|million|billion|亿|万)", re.IGNORECASE
)
"""What every line with a count behind a name has, and most have not."""
_COUNT_BEHIND = pattern(
    r"(?<![A-Za-z0-9_.])(?P<size>(?:[A-Za-z][A-Za-z0-9_.]*[-/ ])*(?:tiny|mini|small|base|medium|large|huge|giant|turbo|x+l|\d+(?:\.\d+)?B|[A-Za-z][A-Za-z0-9_./]*-[A-Za-z0-9./]+))[*_`]*\s?"
    r"(?:[(（:：=约是为~≈]|(?<=\s)(?:has|is|at)\s)\s?[~≈约]?\s?(?P<count>\d[\d,.]*\s?(?:[MB]\b|million|billion|亿|万))(?: param(?:eter)?s|\s?个?参数量?)?\s?(?:[)）,，;；、.]|$)",
    re.IGNORECASE,
)


def _lines_led_by_sizes(scene: Scene, tabled: Collection[int]) -> Iterator[tuple[int, Listed, Subject]]:
    """Yield the lines that a member's size begins and its count follows, in a text on one family: ``tiny 39 M tiny.en``."""
    families = {family_of(scene.lines[index].text[m.column : m.end]) for index, found in scene.mentions.items() for m in found}
    for index in scene.counted_lines if len(families) == 1 else ():
        line = scene.lines[index]
        match = _SIZE_AND_COUNT.match(line.text) if index not in tabled and index not in scene.mentions else None
        subject = member_of(scene, match[1], list(families), firm=True) if match is not None else None
        listed = hold_item(line.text, index, Item("total", *match.span(2)), subject) if match is not None and subject is not None else None
        if listed is not None and subject is not None:
            yield index, listed, subject


_SIZE_AND_COUNT = pattern(
    r"[\s*`|-]*(tiny|mini|small|base|medium|large|huge|turbo|x+l|x+large|\d+(?:\.\d+)?B)[*`]*[\s|:]+(\d[\d,.]*\s?(?:[MB]\b|million|billion))",
    re.IGNORECASE,
)


def _judge_totals(scene: Scene, group: Sequence[tuple[Listed, Subject]]) -> Iterator[Claim]:
    right = sum(listed.own for listed, _ in group)
    least = 1 if len(group) > 1 and _is_headed(scene, group[0][0].token.line) else SURE_COUNTS
    for listed, subject in group if len(group) > 1 else ():
        yield from hold(scene, listed, subject, sure=right >= least and (right * 2 > len(group) or len(group) == least + 1))


def _is_headed(scene: Scene, line: int) -> bool:
    """Tell whether the line above a list says that it is one of parameters: ``模型总参数量：`` and nothing else."""
    above = next((index for index in range(line - 1, max(-1, line - 4), -1) if scene.lines[index].text.strip()), -1)
    return above >= 0 and not scene.mentions.get(above) and _OF_PARAMETERS.search(scene.lines[above].text) is not None


_OF_PARAMETERS = pattern(
    r"^[\W\d_]*(?:\[[ x]\]\s*)?(?:各?(?:模型|网络)的?)?(?:总参数量?|参数(?:总?量|规模|数量?))|^\W*(?:number of |total )?parameters?(?: counts?)?\b[^.]{0,24}[:：]?$",
    re.IGNORECASE,
)


_LISTED = pattern(r"[\s>]*(?:[-*+•·]|\d{1,2}[.)、])?[\s*_`]*$")


_ALONE = pattern(r"[\s*_`\"]*(?:[:：(（\-–—=→#]|(?=\s))[\s*_`~≈约]*(?:(?:total )?(?:params?|parameters|参数量?)[:：]? ?)?[~≈约]?")
