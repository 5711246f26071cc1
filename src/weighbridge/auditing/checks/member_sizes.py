"""Sizes that name a member of a family: BERT base and large, the 7B and 13B."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from weighbridge.auditing.checks.names import SIZE_WORDS, Mention
from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import FAMILY, MODEL, join_runs, member

_VERSION = pattern(
    r"\s*(?:版本|版|模型|规模|型号|model\b|version|config|architecture|variant|checkpoint|one\b(?! of)|[(:：（])", re.IGNORECASE
)
_LISTED = pattern(r"\s*(?:,|、|/|and|&|和|与|及|or)\s*(?:and\s*)?", re.IGNORECASE)
"""Between the sizes of one family in a list: ``GPT-2 small, medium, large and XL``."""
_OWN = pattern(r"\b(?:our|own|my|an?|new|custom|another|any|some)\s+(?:\w+\s+)?$|自己的?$|我们的?$", re.IGNORECASE)
"""Before a size that is of a model of the author's own, and no member of the family."""
_COMPARED = pattern(
    r"\b(?:compared (?:to|with)|unlike|than|versus|vs\.?|against|over|like)\W*$|(?:相比于?|不同于|比|对比)\W*$", re.IGNORECASE
)
"""Before a model that another is held against: a size behind it is of that other."""
_BEFORE = 64
"""Characters before a name or a size that may say of what it is."""


@lru_cache(maxsize=4096)
def family_of(name: str) -> str:
    """Return the family's part of a name: everything before its size.

    >>> family_of("BERT-Base, Uncased"), family_of("Llama 2 7B"), family_of("GPT-2")
    ('bert', 'llama2', 'gpt2')
    """
    runs = re.findall(r"[a-z0-9]+(?:\.[0-9]+[a-z]*)*", name.lower())
    kept = []
    for place, run in enumerate(runs):
        if place and (SIZE_WORDS.fullmatch(run) or re.fullmatch(r"\d+x\d+b|[bslh]|uncased|cased|medium", run)):
            break
        kept.append(run)
    return join_runs(kept)


def _is_sister(text: str, size: re.Match[str]) -> bool:
    """Tell whether a number of parameters is a model's name: ``the 7B has 32 layers``, ``The 70B: 80 layers``."""
    return _THE.search(text, max(0, size.start() - _BEFORE), size.start()) is not None and _SAYS.match(text, size.end()) is not None


def _is_member(text: str, size: re.Match[str], named: Sequence[Mention]) -> bool:
    """Tell whether a number of parameters is what a member of a family is called by."""
    if _is_sister(text, size) or _CALLED.match(text, size.end()) is not None:
        return True
    before = [m for m in named if m.kind in (FAMILY, MODEL) and m.end <= size.start()]
    if not before or _SERIES_HAS.match(text, size.end()) is None or _ENDS.search(text, before[-1].end, size.start()):
        return False
    series = [m for m in before if m.kind == FAMILY]
    return bool(series) and _SERIES.match(text, series[-1].end) is not None and _CLAUSE_BEGINS.search(text, 0, size.start()) is not None


_SERIES = pattern(r"[*_`]{0,3}\s?(?:全?系列|家族|模型系列)(?:中|里|内|之中|模型中)?\s?[,，:：的]")
_SERIES_HAS = pattern(r"\s?(?:模型)?\s?(?:共|也|则|只)?(?:有|为|是|采用|使用|包含|由)")
_CLAUSE_BEGINS = pattern(r"[,，;；:：、]\s?(?:而|其中)?\s?$")
"""A series and, at the beginning of a clause, what one of it has: ``Qwen2.5 系列中，7B 模型有 28 层``."""


def _is_counted(text: str, size: re.Match[str], named: Sequence[Mention]) -> bool:
    """Tell whether a size word and a count go on a list that a model and its count begin: ``Whisper tiny has 39M parameters, base 74M``."""
    if size[1][0].isdigit() or _COUNT.match(text, size.end()) is None:
        return False
    return any(
        m.kind == MODEL
        and m.end <= size.start()
        and _COUNT.search(text, m.end, size.start())
        and not _ENDS.search(text, m.end, size.start())
        for m in named
    )


def _opens(text: str, size: re.Match[str]) -> bool:
    """Tell whether a size word with a capital is the subject of its sentence, leads an item or is called a size: ``Base uses``, ``* Scout: 17B active``."""
    if not size[1][0].isupper():
        return False
    begins = _BEGINS.search(text, 0, size.start()) is not None
    return (begins and _DOES.match(text, size.end()) is not None) or _SIZE.match(text, size.end()) is not None


def _is_bare(text: str, size: re.Match[str]) -> bool:
    """Tell whether a size word stands for a model by itself, as another does on the line: ``3072 units for base, 4096 for large``."""
    if size[1][0].isdigit() or not _stands_alone(text, size):
        return False
    others = {other[1].lower() for other in SIZE_WORDS.finditer(text) if not other[1][0].isdigit() and _stands_alone(text, other)}
    return len(others) > 1


def _stands_alone(text: str, size: re.Match[str]) -> bool:
    return (
        _ALONE_BEFORE.search(text, max(0, size.start() - _BEFORE), size.start()) is not None
        and _ALONE_BEHIND.match(text, size.end()) is not None
    )


_ALONE_BEFORE = pattern(r"(?:^|[.;:,(]\s?|\b(?:and|or|for|in|of|to|from|while|whereas|but)\s)(?:the\s)?[*_`]*$", re.IGNORECASE)
_ALONE_BEHIND = pattern(
    r"[*_`]*(?:\s?(?:$|[.,;:)(])|\s(?:(?:has|had|uses|needs|takes|goes to|to|with|at|gets|comes with) (?:about |around |roughly )?(?:an? |the )?\d|and\b|model\b|one\b|\d))",
    re.IGNORECASE,
)
"""Around a word for a size that is no adjective."""
_BEGINS = pattern(r"(?:^|[.;:!?。；：]\s|\n)[\s*_`>•·-]*(?:(?:and|while|whereas|but|then|finally),?\s)?$", re.IGNORECASE)
_DOES = pattern(
    r"[*_`]{0,3}\s?(?::(?=\s)|(?:uses|has|had|is divided|consists|comes with|contains|comprises|stacks|keeps|doubles|employs|features|activates|packs|holds|totals|supports)\b)",
    re.IGNORECASE,
)
_SIZE = pattern(r"\ssize\b(?!\sof\b)", re.IGNORECASE)
_THE = pattern(r"(?:^|[\s(（])the $", re.IGNORECASE)
_SAYS = pattern(
    r"\s(?:model|variant|version|checkpoint|configuration)\b(?!s)|(?:\s(?:one|size))?(?:\s(?:has|have|uses|stacks|keeps|consists|comprises|contains|features|employs)\b|\s?[:：])",
    re.IGNORECASE,
)
_COUNT = pattern(r"\s?(?:has |with |[(（=:：])?\s?[~≈约]?\d[\d.]*\s?(?:[MB](?![A-Za-z])|million\b|billion\b|亿)", re.IGNORECASE)
_ENDS = pattern(r"[;；。|]|\.(?!\d)")
_IN_SIZES = "base large small tiny mini medium huge giant xl turbo scout maverick".split()
_COUNT_OR_WORD = pattern(r"\d\s?[bBmMxX]")


def _may_have_size(text: str) -> bool:
    """Tell whether a line may have a word for a member's size at all."""
    lower = text.lower()
    return any(word in lower for word in _IN_SIZES) or _COUNT_OR_WORD.search(text) is not None


def sizes_as_members(text: str, mentions: Sequence[Mention], families: Sequence[str]) -> list[Mention]:
    """Return the sizes of a line that stand for members of a family that it, or the text above it, names."""
    if not (mentions or families) or not _may_have_size(text):
        return []
    found: list[Mention] = []
    carried = families
    for match in SIZE_WORDS.finditer(text):
        inside = any(m.column <= match.start() < m.end for m in mentions)
        listed = any(
            _LISTED.fullmatch(text, m.end, match.start()) for m in (*mentions, *found) if m.kind == MODEL and m.end <= match.start()
        )
        sister = match[1][0].isdigit()
        called = _is_member(text, match, (*mentions, *found)) if sister else _VERSION.match(text, match.end())
        if (
            inside
            or _OWN.search(text, max(0, match.start() - _BEFORE), match.start())
            or not (
                called
                or (listed and not match[1][0].isdigit())
                or _is_counted(text, match, (*mentions, *found))
                or _opens(text, match)
                or _is_bare(text, match)
            )
        ):
            continue
        before = [m for m in mentions if m.kind in (FAMILY, MODEL) and m.end <= match.start()]
        before = [m for m in before if not _COMPARED.search(text, max(0, m.column - _BEFORE), m.column)] or before
        families = [family_of(text[before[-1].column : before[-1].end])] if before else carried
        named = member(families, match[1]) if families else None
        if named is not None:
            beside = bool(before) and _ENDS.search(text, before[-1].end, match.start()) is None
            whole = _CALLED.match(text, match.end()) if beside else None
            end = whole.end() if whole is not None else match.end()
            found.append(Mention(match.start(), named.names[0], end, named.names, MODEL))
    return found


_CALLED = pattern(r"\s?(?:参数)?的?(?:版本|版)(?![本权])")
"""Behind a size, what makes it the name of a member: ``large 版本``, ``1.5B 版本``."""
