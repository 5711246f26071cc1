"""Which model each line of a text is about: names in it, headings, names that stand alone above their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.names import SIZE_WORDS, UNKNOWN, Mention, find_mentions
from weighbridge.auditing.claims import Line, Subject
from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import FAMILY, MODEL, join_runs, member

_VERSION = pattern(r"\s*(?:版本|版|模型|规模|型号|model\b|version|config|architecture|variant|[(:：（])", re.IGNORECASE)
_LISTED = pattern(r"\s*(?:,|、|/|and|&|和|与|及|or)\s*(?:and\s*)?", re.IGNORECASE)
"""Between the sizes of one family in a list: ``GPT-2 small, medium, large and XL``."""
_OWN = pattern(r"\b(?:our|own|my|an?|new|custom|another|any|some)\s+(?:\w+\s+)?$|自己的?$|我们的?$", re.IGNORECASE)
"""Before a size that is of a model of the author's own, and no member of the family."""
_COMPARED = pattern(
    r"\b(?:compared (?:to|with)|unlike|than|versus|vs\.?|against|over|like)\W*$|(?:相比于?|不同于|比|对比)\W*$", re.IGNORECASE
)
"""Before a model that another is held against: a size behind it is of that other."""
_EXAMPLE = pattern(
    r"以.{1,60}为例|\bexample\b|worked|let['’]?s (?:take|use|start|consider)|\bconsider\b|\bblueprint\b|\bsettings?\b|配置|参数如下",
    re.IGNORECASE,
)
_FILLER = pattern(
    r"models?|parameters?|params|config(?:uration)?s?|settings|architecture|模型|参数量?|配置|计算|分析|[\W\d_]+|[mb]\b|the|of|for|card|的|版",
    re.IGNORECASE,
)
_BEFORE = 64
"""Characters before a name or a size that may say of what it is."""
_ALONE = 6
"""Letters that may stand beside a name that is a line of its own."""
_REACH = 60
"""Lines that a name standing alone speaks for."""


def models_by_line(lines: Sequence[Line]) -> dict[int, list[Mention]]:
    """Return the models that each line names, sizes such as ``large 版本`` taken for members of the family spoken of.

    >>> [m.name for m in models_by_line([Line(1, "", "BERT: base 版本(110M), large 版本(340M)", ())])[0] if m.name]
    ['bert-base-uncased', 'bert-large-uncased']
    """
    found: dict[int, list[Mention]] = {}
    families: list[str] = []
    for index, line in enumerate(lines):
        mentions = list(_owned_backbones(line.text, list(find_mentions(line.text)))) if line.text else []
        mentions += _sizes_as_members(line.text, mentions, families[:1])
        for mention in mentions:
            family = family_of(line.text[mention.column : mention.end])
            if mention.kind in (FAMILY, MODEL) and family and not SIZE_WORDS.fullmatch(family):
                families = [family]
        if mentions:
            found[index] = _merge_mentions(sorted(mentions, key=lambda mention: mention.column))
    return found


def _merge_mentions(found: list[Mention]) -> list[Mention]:
    """Take a family's name behind one of its members for that member, or else one of its sisters: ``gpt2-medium: OpenAI GPT-2 English model``."""
    models = [m for m in found if m.kind == MODEL]
    if len(models) != 1:
        return found
    own = models[0]
    return [
        m._replace(name=own.name, names=(*own.names, *(name for name in m.names if name not in own.names)), kind=MODEL)
        if m.kind == FAMILY and m.column > own.column and own.name in m.names
        else m
        for m in found
    ]


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


def _owned_backbones(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Take plain vision transformers in a list that another model's name leads for that model's: ``DINOv2: ViT-S/14 (22M), ViT-B/14 (86M)``."""
    owner, last = "", None
    for mention in mentions:
        written = text[mention.column : mention.end]
        plain = _PLAIN_BACKBONE.search(written)
        if plain is None:
            owner = written if _LEADS.match(text, mention.end) else ""
        elif plain.start():
            owner = written[: plain.start()]
        elif owner and (
            last is None or _PLAIN_BACKBONE.match(text, last.column) is None or _NEXT_OF_LIST.fullmatch(text, last.end, mention.column)
        ):
            whole = next(find_mentions(f"{owner} {written}"), None)
            known = whole is not None and whole.end == len(owner) + 1 + len(written)
            mention = (
                mention._replace(name=whole.name, names=whole.names, kind=whole.kind)
                if known and whole
                else Mention(mention.column, None, mention.end)
            )
        else:
            owner = ""
        last = mention
        yield mention


_PLAIN_BACKBONE = pattern(r"(?<![a-z])vit[- ]?(?:ti|[smblhg])(?![a-z])", re.IGNORECASE)
_LEADS = pattern(r"(?:['’]s)?(?: [\w-]+){0,3}\s?(?:[:：(（]|\bwith an?\b|\buses an?\b)\s*(?=vit)", re.IGNORECASE)
_NEXT_OF_LIST = pattern(r"\s*(?:[(（][^()（）]{0,40}[)）])?\s*(?:[,，、;；/|]|and|or|和|与)+\s*(?:and\s*)?", re.IGNORECASE)
"""Around the members of such a list: behind the name that leads it, and between two of them."""


def _is_sister(text: str, size: re.Match[str]) -> bool:
    """Tell whether a number of parameters is a model's name: ``the 7B has 32 layers``, ``The 70B: 80 layers``."""
    return _THE.search(text, max(0, size.start() - _BEFORE), size.start()) is not None and _SAYS.match(text, size.end()) is not None


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


_BEGINS = pattern(r"(?:^|[.;:!?。；：]\s|\n)[\s*_`>•·-]*(?:(?:and|while|whereas|but|then|finally),?\s)?$", re.IGNORECASE)
_DOES = pattern(
    r"[*_`]{0,3}\s?(?::(?=\s)|(?:uses|has|had|is divided|consists|comes with|contains|comprises|stacks|keeps|doubles|employs|features|activates|packs|holds|totals|supports)\b)",
    re.IGNORECASE,
)
_SIZE = pattern(r"\ssize\b(?!\sof\b)", re.IGNORECASE)
_THE = pattern(r"(?:^|[\s(（])the $", re.IGNORECASE)
_SAYS = pattern(r"(?:\s(?:model|variant|version|one))?(?:\s(?:has|have|uses|stacks|keeps)\b|\s?[:：])", re.IGNORECASE)
_COUNT = pattern(r"\s?(?:has |with |[(（=:：])?\s?[~≈约]?\d[\d.]*\s?(?:[MB](?![A-Za-z])|million\b|billion\b|亿)", re.IGNORECASE)
_ENDS = pattern(r"[;；。|]|\.(?!\d)")


_IN_SIZES = "base large small tiny mini medium huge giant xl turbo scout maverick".split()
_COUNT_OR_WORD = pattern(r"\d\s?[bBmMxX]")


def _may_have_size(text: str) -> bool:
    """Tell whether a line may have a word for a member's size at all."""
    lower = text.lower()
    return any(word in lower for word in _IN_SIZES) or _COUNT_OR_WORD.search(text) is not None


def _sizes_as_members(text: str, mentions: Sequence[Mention], families: Sequence[str]) -> list[Mention]:
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
        called = _is_sister(text, match) or _CALLED.match(text, match.end()) is not None if sister else _VERSION.match(text, match.end())
        if (
            inside
            or _OWN.search(text, max(0, match.start() - _BEFORE), match.start())
            or not (
                called or (listed and not match[1][0].isdigit()) or _is_counted(text, match, (*mentions, *found)) or _opens(text, match)
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


def contexts(lines: Sequence[Line], found: Mapping[int, Sequence[Mention]], main: str | None) -> list[str | None]:
    """Return for each line the model that a heading, or a name alone on a line above, says it is about; else the main one.

    The empty string is the main model, None one that cannot be told.
    """
    told: list[str | None] = []
    stack: list[tuple[int, str | None]] = [(0, "")]
    alone: tuple[int, str | None] | None = None
    for index, line in enumerate(lines):
        mentions = found.get(index, ())
        if line.heading:
            while stack[-1][0] >= line.heading:
                stack.pop()
            plain = [m for m in mentions if m.kind != UNKNOWN or line.text[m.column : m.end].lower() not in _KIND]
            name = _of(plain, stack[-1][1], main)
            stack.append((line.heading, name))
            alone = None
        elif mentions and _stands_alone(line.text, mentions):
            alone = (index, _of(mentions, stack[-1][1], main))
        if alone is not None and index - alone[0] > _REACH:
            alone = None
        told.append(alone[1] if alone is not None else stack[-1][1])
    return told


_KIND = frozenset(("gpt", "llm"))
"""What a heading calls a kind of model by, and no one model: ``1. GPT parameter count``."""


def _of(mentions: Sequence[Mention], before: str | None, main: str | None) -> str | None:
    models = [m for m in mentions if m.kind == MODEL] or [m for m in mentions if m.kind != FAMILY]
    if not models:
        return before
    name = models[-1].name
    return "" if main is not None and name == main else name


def subjects_of(lines: Sequence[Line], found: Mapping[int, Sequence[Mention]]) -> tuple[Subject, ...]:
    """Return each model that a text names, with the place where it is named first and how often."""
    told: dict[str, Subject] = {}
    for index, mentions in sorted(found.items()):
        for mention in mentions:
            text = lines[index].text[mention.column : mention.end]
            text += ")" * (text.count("(") > text.count(")"))  # ``GPT-2 (1.5B``, of ``GPT-2 (1.5B)``
            name = mention.name or (family_of(text) if mention.kind == FAMILY else "")
            key = name or text.lower()
            before = told.get(key)
            told[key] = before._replace(times=before.times + 1) if before else Subject(name, text, lines[index].number, mention.kind, 1)
    return tuple(told.values())


def _stands_alone(text: str, mentions: Sequence[Mention]) -> bool:
    """Tell whether a line is little more than one model's name, or takes one model as its example."""
    models = [m for m in mentions if m.kind == MODEL]
    if len(models) == 1 and re.search(r"[\"']?\s*(?:=\s*(?:dict)?|:)\s*[{(\[]?\s*$", text):
        return True  # ``GPT2_LARGE = {`` begins its settings
    numbered = re.sub(r"^[\s*#-]*\d{1,2}[.)、]", "", text[: models[0].column]) if models else ""
    if len(models) != 1 or "=" in text or "|" in text or re.search(r"\d", numbered):
        return False  # a number in front of the name is compared with it
    rest = text[: models[0].column] + text[models[0].end :]
    if len(_FILLER.sub("", rest)) <= _ALONE:
        return True
    return len(mentions) == 1 and len(text) < 160 and _EXAMPLE.search(text) is not None
