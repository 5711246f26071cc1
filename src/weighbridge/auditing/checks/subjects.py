"""Which model each line of a text is about: names in it, headings, names that stand alone above their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.auditing.checks.borrowed_models import leave_out_borrowed
from weighbridge.auditing.checks.keyed_members import family_of_dict, member_of_key
from weighbridge.auditing.checks.member_sizes import family_of, sizes_as_members
from weighbridge.auditing.checks.names import SIZE_WORDS, UNKNOWN, Mention, find_mentions
from weighbridge.auditing.claims import Line, Subject
from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import FAMILY, MODEL

_EXAMPLE = pattern(
    r"以.{1,60}为例|\bexample\b|worked|let['’]?s (?:take|use|start|consider)|\bconsider\b|\bblueprint\b|\bsettings?\b|配置|参数如下",
    re.IGNORECASE,
)
_FILLER = pattern(
    r"models?|parameters?|params|config(?:uration)?s?|settings|architecture|模型|参数量?|配置|计算|分析|[\W\d_]+|[mb]\b|the|of|for|card|的|版",
    re.IGNORECASE,
)
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
    dict_of = ""
    for index, line in enumerate(lines):
        mentions = list(_owned_backbones(line.text, list(find_mentions(line.text)))) if line.text else []
        mentions += sizes_as_members(line.text, mentions, families[:1])
        dict_of = family_of_dict(line.text, families, dict_of)
        keyed = member_of_key(line.text, dict_of, lines[index - 1].text if index else "") if dict_of else None
        mentions += [keyed] if keyed is not None and not mentions else []
        for mention in mentions:
            family = family_of(line.text[mention.column : mention.end])
            if mention.kind in (FAMILY, MODEL) and family and not SIZE_WORDS.fullmatch(family):
                families = [family]
        if mentions:
            ordered = _merge_mentions(sorted(mentions, key=lambda mention: mention.column))
            found[index] = list(leave_out_borrowed(line.text, ordered)) if len(ordered) > 1 else ordered
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
