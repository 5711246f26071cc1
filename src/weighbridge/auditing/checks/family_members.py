"""Bare names of families, taken for the member that the text or the sizes beside them tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.main_model import AssumedModel, sizes_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.claims import Line
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.thresholds import AGREED_SIZES
from weighbridge.presets.aliases import FAMILY, MODEL, preset_configs


def resolve_families(lines: Sequence[Line], named: dict[int, list[Mention]], main: AssumedModel | None) -> dict[int, list[Mention]]:
    """Take a family's bare name, such as ``Mixtral``, for the model that the text is about.

    Behind that model's own name, the bare name means it and no sister. From the line on which the text names another member of that family, the bare name may mean either, and is left open.
    """
    if main is None:
        return named
    members: set[str | None] = set()
    called: tuple[str, ...] = ()
    resolved: dict[int, list[Mention]] = {}
    for index, found in sorted(named.items()):
        if not main.given:
            members |= {mention.name for mention in found if mention.kind == MODEL} - {main.name}
        resolved[index] = [
            m._replace(name=main.name, kind=MODEL, names=called or m.names)
            if m.kind == FAMILY
            and main.name in m.names
            and members.isdisjoint(m.names)
            and not _OF_OWN_SIZE.search(lines[index].text, 0, m.column)
            else m
            for m in found
        ]
        if not called and not main.given:
            called = next((m.names for m in found if m.kind == MODEL and m.name == main.name), ())
    return resolved


_OF_OWN_SIZE = pattern(
    r"\b(?:mini(?:ature)?|tiny|small|smaller|little|toy|custom|simple|simplified|reduced|nano|baby|our|my|own)[- ]$", re.IGNORECASE
)
"""Before a family's name, what makes one of its own: ``a mini ViT``."""


def by_sizes(lines: Sequence[Line], named: dict[int, list[Mention]], sizes: Sequence[StatedSize]) -> dict[int, list[Mention]]:
    """Take a family's bare name for its member whose sizes stand beside it: ``GPT-2, 12-layer, 768-hidden``."""
    beside: dict[int, dict[str, int]] = {}
    several: set[int] = set()
    for size in sizes:
        if beside.setdefault(size.token.line, {}).setdefault(size.word, size.value) != size.value:
            several.add(size.token.line)  # of two members, or more
    for index, found in named.items():
        told = beside.get(index, {})
        if not told or index in several or any(m.kind != FAMILY or m.names != found[0].names for m in found):
            continue
        fitting = [
            name
            for name in found[0].names
            if all(sizes_of(preset_configs()[name]).get(word, value) == value for word, value in told.items())
        ]
        if fitting and (len(told) > 1 or len(fitting) == len(found[0].names)):
            named[index] = [m._replace(name=fitting[0], names=tuple(fitting), kind=MODEL) for m in found]
    one = _member_by_all_sizes(lines, named, sizes)
    return {index: [m._replace(name=one, names=(one,), kind=MODEL) for m in found] for index, found in named.items()} if one else named


def _member_by_all_sizes(lines: Sequence[Line], named: Mapping[int, Sequence[Mention]], sizes: Sequence[StatedSize]) -> str | None:
    """Return the member whose sizes a text states, all but one at most, that names its family and no model: ``GPT-3 ... 96 layers ... 12,288``."""
    families = {m.names if m.kind == FAMILY else () for found in named.values() for m in found}
    if len(families) != 1 or () in families:
        return None
    said: dict[str, set[int]] = {}
    for size in sizes:
        said.setdefault(size.word, set()).add(size.value)
    for one in (described for line in lines for described in find_described_sizes(line.text)):
        said.setdefault(one.word, set()).add(one.value)
    told = {word: next(iter(values)) for word, values in said.items() if len(values) == 1}
    fitting = []
    for name in next(iter(families)):
        own = sizes_of(preset_configs()[name])
        agreed = sum(own.get(word) == value for word, value in told.items())
        if agreed >= AGREED_SIZES and sum(word in own and own[word] != value for word, value in told.items()) <= 1:
            fitting.append(name)
    return fitting[0] if len(fitting) == 1 and len(told) == len(said) else None


def by_counts(lines: Sequence[Line], named: dict[int, list[Mention]]) -> dict[int, list[Mention]]:
    """Take a family's bare name for the member that is called by the count beside it: ``GPT-3 has 175 billion parameters``.

    Only where the text gives the family one such count: ``GPT-3 comes in sizes from 125M to 175B`` means no one of them.
    """
    told: dict[tuple[str, ...], set[Fraction]] = {}
    for index, found in named.items():
        for mention in (m for m in found if m.kind == FAMILY):
            text = lines[index].text
            match = _BESIDE.match(text, mention.end) or _BEFORE.search(text, max(0, mention.column - _REACH), mention.column)
            counts = told.setdefault(mention.names, set())
            if match is not None:
                counts.add(_count(match["number"], match["unit"]))
    if len(told) == 1 and all(m.kind == FAMILY for found in named.values() for m in found):
        names, counts = next(iter(told.items()))
        told[names] = counts or {_count(one["number"], one["unit"]) for line in lines for one in _PARAMETERS.finditer(line.text)}
    meant = {names: _members_by_count(names, counts) for names, counts in told.items()}
    return {
        index: [
            m._replace(name=meant[m.names][0], names=meant[m.names], kind=MODEL) if m.kind == FAMILY and meant[m.names] else m
            for m in found
        ]
        for index, found in named.items()
    }


def by_tags(lines: Sequence[Line], named: dict[int, list[Mention]]) -> dict[int, list[Mention]]:
    """Take a family's bare name for the member whose experts the text counts in its name: ``Mixtral`` where it says ``8x7B``, and no other such."""
    if not any(m.kind == FAMILY and any(_TAG.search(name) for name in m.names) for found in named.values() for m in found):
        return named
    tags = {match[0].lower() for line in lines for match in _TAG.finditer(line.text)}
    if len(tags) != 1:
        return named
    tag = next(iter(tags))

    def member(mention: Mention) -> Mention:
        names = tuple(name for name in mention.names if _TAG.search(name) is not None and tag in name)
        return mention._replace(name=names[0], names=names, kind=MODEL) if mention.kind == FAMILY and names else mention

    return {index: [member(m) for m in found] for index, found in named.items()}


_TAG = pattern(r"(?<![\w.])\d+x\d+b(?![a-z0-9])", re.IGNORECASE)


_BESIDE = pattern(
    r"['’]?s?\s?[(（]?(?:(?:has|have|with|contains|is|a|an|of|at|uses|model|about|around|roughly|approximately|approx\.|nearly|almost|some|把|将|(?:powerful|compact|small|large|high-performance|state-of-the-art|popular|dense|decoder-only|open|open-source|open-weight|efficient|lightweight|highly|capable)\b,?|的?(?:总|模型)?参数(?:总?量|规模|总数)?|推到|推至|提升|增加|达到?|高达|到|至|了|有|拥有|具有|约|为|是|共|模型)\s?){0,5}[~≈]?\s?"
    r"(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>[BM]\b|billion|million|亿|(?<=\d)[BM](?=[\u4e00-\u9fff]))(?!\s?(?:tokens|words|to|[-–~])\b|\s?[-–~到至]\s?\d|\s?个?(?:token|词)|(?:\s?[,，、/&和与及]|\s(?:and|or)\b)+\s?(?:(?:and|or) )?\d[\d.]*\s?(?:[BM]|亿|billion|million))",
    re.IGNORECASE,
)
"""A count right behind a family's name, which is what one of its members is called by; not the first of a list of them."""


_PARAMETERS = pattern(
    r"(?<![\w.,–-])(?<!to )(?<!and )(?<!or )(?<!, )(?<!from )(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>[BM]|billion|million)[- ]param(?:eter)?s?\b",
    re.IGNORECASE,
)
"""A count of parameters anywhere in a text that names one family and no model: ``It has 175 billion parameters``."""
_REACH = 32
_BEFORE = pattern(
    r"(?<![\w.–-])(?P<number>\d+(?:\.\d+)?)(?P<unit>[BM])[- ](?:param(?:eter)?s? )?(?:base |chat |instruct |instruction-tuned |dense )?[*_`]*$",
)
"""The same right before the name: ``the instruction-tuned 3B Qwen2.5 model``."""


def _count(number: str, unit: str) -> Fraction:
    return Fraction(number) * {"b": 10**9, "billion": 10**9, "m": 10**6, "million": 10**6, "亿": 10**8}[unit.lower()]


def _members_by_count(names: Sequence[str], counts: Collection[Fraction]) -> tuple[str, ...]:
    """Return the members whose name ends in the one count that a text gives their family."""
    if len(counts) != 1:
        return ()
    ends = ((name, _END.search(name)) for name in names)
    return tuple(name for name, end in ends if end is not None and _count(end[1], end[2]) in counts)


_END = pattern(r"-(\d+(?:\.\d+)?)([bm])(?:-v\d[\d.]*)?$")


def is_about_another(found: Sequence[Mention], column: int) -> bool:
    """Tell whether what stands here is said of a large sister, or of a model that cannot be told."""
    before = [mention for mention in found if mention.column <= column]
    return bool(before) and (before[-1].name is None or "large" in before[-1].name)


def majority_sizes(sizes: Sequence[StatedSize]) -> dict[str, int]:
    """Return the size that is stated most often for each word; firm statements count more, the first wins."""
    votes: dict[str, Counter[int]] = {}
    for size in sizes:
        votes.setdefault(size.word, Counter())[size.value] += 10 if size.firm else 1
    return {word: counter.most_common(1)[0][0] for word, counter in votes.items()}
