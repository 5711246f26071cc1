"""Sizes that two models are told apart by: ``Llama 3 8B and Llama 2 7B differ: the vocabulary grew from 32,000 to 128,256``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.field_words import label_before
from weighbridge.auditing.text.numbers import Token
from weighbridge.presets.aliases import MODEL

_NUMBER = r"\d{1,3}(?:,\d{3})+|\d{1,7}"
_CHANGE = pattern(
    rf"(?P<link>\s?(?:(?:size|number|count|数量?|大小)\s?)?(?:(?:is|was|grew|grows|rose|rises|went|goes|increased|expanded|reduced|dropped|fell|shrank|changed|has|被)\s?){{0,3}}(?:from|由|从)\s?)(?P<old>{_NUMBER})(?!\d|\.\d|%|\s?[KMBGk]\b)"
    rf"[^\d,，;；。.]{{0,16}}?(?:to|到|至|为|→|->)\s?(?P<new>{_NUMBER})(?!\d|[.,]\d|%|\s?[KMBGk]\b)",
    re.IGNORECASE,
)
"""A size's name stands before it."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check changes of a size in lines that name two models and no third: one number is each model's."""
    for index, mentions in scene.mentions.items():
        text = scene.lines[index].text
        if index in tabled or len(text) > LONGEST or is_of_their_own(scene, index):
            continue
        names = {m.name for m in mentions}
        if len(names) != 2 or any(m.kind != MODEL for m in mentions):
            continue
        for change in _CHANGE.finditer(text):
            word = label_before(text, change.start("link"))
            if word in SIZE_TITLES and word not in ("positions", "types"):
                yield from _hold(scene, index, change, str(word), mentions)


def _hold(scene: Scene, index: int, change: re.Match[str], word: str, mentions: Sequence[Mention]) -> Iterator[Claim]:
    """Hold the two numbers of a change against the two models, whichever of them was first."""
    subjects = [
        of_mention(scene, next(m for m in mentions if m.name == name), firm=True) for name in dict.fromkeys(m.name for m in mentions)
    ]
    values = [
        frozenset().union(*(values_of(model, word) for model in subject.models)) if subject is not None else frozenset()
        for subject in subjects
    ]
    said = [(group, int(change[group].replace(",", ""))) for group in ("old", "new")]
    orders = [(values[0], values[1]), (values[1], values[0])]
    fits = [[_is_of(number, own, word) for (_, number), own in zip(said, order, strict=True)] for order in orders]
    if not all(values) or values[0] == values[1]:
        return
    best = max(range(2), key=lambda place: sum(fits[place]))
    if sum(fits[best]) == 0 or (sum(fits[best]) == 1 and (sum(fits[1 - best]) == 1 or len(orders[best][fits[best].index(False)]) != 1)):
        return
    for (group, number), own, right in zip(said, orders[best], fits[best], strict=True):
        token = Token("num", "", index, *change.span(group))
        yield field_claim(scene, token, word, number, number if right else next(iter(own)), "exact" if right else "wrong")


def _is_of(number: int, own: frozenset[int], word: str) -> bool:
    return number in own or (word == "vocab" and any(is_fair_vocabulary(number, rows) for rows in own))
