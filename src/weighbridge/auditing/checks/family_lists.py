"""The counts that a family comes in, as English lists them: ``Falcon consists of models with 7B, 40B and 180B parameters``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.closed_families import report_no_member
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.rounding import significant_digits
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import FAMILY_FAR, LISTED_FAR, ROUNDED_DIGITS
from weighbridge.presets.aliases import FAMILY

_COMPLETE = frozenset(
    "gpt3-125m gpt2 llama-7b llama-2-7b llama-3-8b llama-3.1-8b gemma-2b gemma-2-2b gemma-3-270m mixtral-8x7b falcon-7b whisper-tiny t5-small pythia-70m "
    "qwen-1.8b qwen1.5-0.5b qwen2-0.5b qwen2.5-0.5b qwen3-0.6b gpt-oss-20b dinov2-small cerebras-gpt-111m gpt-neo-125m mpt-7b smollm2-135m deberta-v3-xsmall".split()
)
"""The first members of families that their authors have closed, and of which every size is a preset."""
_SIZE = r"[~≈]?\d[\d,]*(?:\.\d+)?[\s-]?(?:[BM](?![A-Za-z])|million\b|billion\b)(?:[\s-]param(?:eter)?s?\b)?"
_NEXT = r"\s?(?:,|/|,? (?:and|or|to|through)\b)\s?(?:(?:up to|another|one|the other|an? \w+ one)\s)?(?:(?:with|of|at|has)\s)?"
_LIST = pattern(rf"(?P<list>{_SIZE}(?:{_NEXT}{_SIZE}){{1,9}})", re.IGNORECASE)
_ANY_COUNT = pattern(r"\d[\s-]?(?:[BM](?![A-Za-z])|[MB]illion)", re.IGNORECASE)
_GLUE = pattern(
    r"\b(?:the|a|an|is|are|was|were|in|of|at|with|as|and|its|their|it|they|this|these|both|all|each|one|two|three|four|five|six|seven|eight|nine|ten|several|different|various|pre-?trained|trained|open(?:-source|-weight|-weights)?"
    r"|series|family|suite|collection|line-?up|models?|comes?|came|available|released|offered|offers?|includes?|consists?|comprises?|ranges?|ranging|differ|sizes?|versions?|variants?|checkpoints?|configurations?|parameters?|params?|counts?|scales?"
    r"|causal|decoder-only|encoder-only|transformers?|language|large|foundation|base|from|between|has|have|have|had|spans?|spanning|by)\b|[\s,:*_`'\"()–—-]",
    re.IGNORECASE,
)
"""What may stand between a family and the counts that it comes in."""
_GOES_ON = pattern(
    r"\W*(?:(?:it|they)\b|(?:this|the|these) (?:[\w-]+ )?(?:family|series|suite|collection|line-?up|models?|release|variants|versions)\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence about the family at hand."""
_COUNTED = pattern(r"\bparam|\bsizes?\b|\bversions?\b|\bvariants?\b|\bscales?\b", re.IGNORECASE)
_FEW = 2


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check each list of counts of a closed family; the one that no member has is wrong where the others are members'.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    if scene.given:
        return
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if index not in tabled and "|" not in text and len(text) <= LONGEST:
            for found in _LIST.finditer(text) if _ANY_COUNT.search(text) else ():
                yield from _hold(scene, index, found)


def _hold(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    text = scene.lines[index].text
    family = _family(scene, index, found.start())
    subject = of_mention(scene, family, firm=False) if family is not None else None
    if subject is None or is_of_their_own(scene, index):
        return
    figures = [one for one in tokens(text, index) if one.kind == "num" and found.start() <= one.start < found.end() and is_count(one)]
    shared = figures[-1].unit if figures else ""
    held = [(one, settle(one, subject.models, whole=True)) for one in figures if one.unit == shared or one.unit]
    fair = sum(judged is not None for _, judged in held)
    for token, judged in held if len(held) >= _FEW and fair >= len(held) - 1 else ():
        if judged is not None:
            yield total_claim(scene, token, judged.verdict, judged.expected, judged.reason)
        else:
            yield from report_no_member(
                scene, token, subject.models, LISTED_FAR if significant_digits(token) >= ROUNDED_DIGITS else FAMILY_FAR
            )


def _family(scene: Scene, index: int, first: int) -> Mention | None:
    """Return the closed family that a list is of: named before it in its sentence, or, where that goes on about it, last above."""
    text, named = scene.lines[index].text, scene.mentions.get(index, ())
    start, stop = sentence_of(text, first)
    inside = [m for m in named if start <= m.column < stop]
    if _COUNTED.search(text, start, stop) is None:
        return None
    if inside:
        words = text[inside[0].end : first]
        return inside[0] if len(inside) == 1 and is_closed(inside[0]) and inside[0].end <= first and not _GLUE.sub("", words) else None
    opening = _GOES_ON.match(text, start)
    if opening is None or _GLUE.sub("", text[opening.end() : first]):
        return None
    above = next(
        (
            found
            for line in (index, *scene.naming_lines(index, _REACH))
            if (found := [m for m in scene.mentions.get(line, ()) if line < index or m.end <= start])
        ),
        [],
    )
    return above[-1] if above and is_closed(above[-1]) and len({m.names for m in above}) == 1 else None


_REACH = 12


def is_closed(mention: Mention) -> bool:
    """Tell whether a mention is that of a family of which every model is known."""
    return mention.kind == FAMILY and bool(_COMPLETE & set(mention.names))
