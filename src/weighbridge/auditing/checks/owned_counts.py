"""Counts that grammar ties to a name, whatever the sentence is about: ``versus BERT-base's 110 million``, ``(125M parameters for RoBERTa-base)``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.count_doubts import is_hedged
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.presets.aliases import MODEL

_POSSESSIVE = pattern(r"[*_`]*(?:['’]s|\s?的)\s?(?:whole |total |full |about |around |~|≈|约)?\s?", re.IGNORECASE)
_COUNTED = pattern(
    r"\s?param(?:eter)?s\s(?!in\b|of\b|per\b|for\b|with\b|each\b|more\b|less\b|fewer\b|than\b)[a-z]|\s?(?:个?参数|param(?:eter)?s?\b)?\s?(?:$|[.,;:)，。；）、](?!\d)|(?:and|while|but|to|of|or|as)\b)",
    re.IGNORECASE,
)
"""What stands between a name and its count, and behind that."""
_FOR = pattern(r"\s(?:param(?:eter)?s?\s)?(?:for|in|of) (?:the )?[*_`]*", re.IGNORECASE)
_CALLED = pattern(r"[\s-]param(?:eter)?s?\s[*_`]*", re.IGNORECASE)
"""Between a count and the name that it stands before: ``the 124M-parameter GPT-2 small``."""
_ENDS = pattern(r"[*_`]*\s?(?:$|[.,;:)，。；）](?!\d)|(?:and|while|but|or)\b)", re.IGNORECASE)
"""What stands between a count and a name behind it, and behind that name."""
_THE = pattern(r"(?:^|[\s(])the\s$", re.IGNORECASE)
_PARAMETERS = pattern(r"param|参数", re.IGNORECASE)
_OF_PART = pattern(
    r"trainable|lora|adapter|extra|additional|more\b|fewer|less\b|up to|over\b|sav\w+|add\w*\b|embedding|attention|\bhead|layer|expert|active|token|memory|\bgb\b|flop|frozen|可训练|额外|增加|减少|超过|嵌入|每|激活|显存",
    re.IGNORECASE,
)
_CLAUSE = pattern(r"[,，;；:：(（]")


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check each count that stands behind its model's name in the possessive, or right before ``for`` and a name."""
    for _, _, token in scene.sorted_figures.plain_counts:
        if not token.unit or token.line in tabled or scene.is_judged(token.line, token.start, token.end):
            continue
        owner = _owner(scene, token)
        subject = of_mention(scene, owner, firm=True) if owner is not None else None
        if subject is None or is_of_their_own(scene, token.line):
            continue
        found = settle(token, subject.models, hedged=is_hedged(scene.lines[token.line].text[: token.start]), whole=True)
        if found is not None:
            yield total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif subject.firm and not is_near(token, subject.models):
            yield from report_wrong_count(scene, token, subject, "total")


def _owner(scene: Scene, token: Token) -> Mention | None:
    """Return the model whose count a figure is by the words right beside it."""
    text, named = scene.lines[token.line].text, scene.mentions.get(token.line, ())
    if not named or "|" in text:
        return None
    start, stop = sentence_of(text, token.start)
    if not _PARAMETERS.search(text, start, stop):
        return None
    for mention in named:
        if mention.kind != MODEL:
            continue
        if mention.end <= token.start and _POSSESSIVE.fullmatch(text, mention.end, token.start) and _COUNTED.match(text, token.end):
            return mention
        if mention.column >= token.end and _CALLED.fullmatch(text, token.end, mention.column) and _THE.search(text, start, token.start):
            return mention
        between = _FOR.fullmatch(text, token.end, mention.column) if mention.column >= token.end else None
        if between is not None and _ENDS.match(text, mention.end) and not _OF_PART.search(_CLAUSE.split(text[start : token.start])[-1]):
            return mention
    return None
