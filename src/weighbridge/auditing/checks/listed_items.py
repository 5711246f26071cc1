"""An item of a list of sizes, with its number and whether it is the model's."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values, main_values, values_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import KEYS, may_be_otherwise
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.items import Item
from weighbridge.auditing.text.lengths import lengths_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple


class Listed(NamedTuple):
    """An item of a list, with the token of its number and whether it is the model's."""

    item: Item
    token: Token
    own: bool


_OF_ONE = pattern(r"\b(?:each|every|per|one|single|expert)\b(?! token)|每(?!个?\s?token)|单|embedding|嵌入", re.IGNORECASE)
"""Words before a count that make it a part's: ``Each expert has 5.6B parameters``."""


def hold_item(text: str, index: int, item: Item, subject: Subject) -> Listed | None:
    """Hold an item's number against the models it is said of; None where it may be something else's."""
    found = tokens(text[item.start : item.end], index)
    if not found or found[0].kind != "num" or found[0].value is None:
        return None
    token = found[0]._replace(start=item.start, end=item.end)
    if item.kind in ("total", "active"):
        if _OF_ONE.search(re.split(r"[,，;；。(（]|\.(?!\d)", text[: item.start])[-1]):
            return None
        return Listed(item, token, settle(token, subject.models, item.kind) is not None) if is_count(token) else None
    number = token.value or Fraction(0)
    item = _meant_letter(text, item, int(number), subject)
    values = set(lengths_of(number, token.unit)) if item.kind == "positions" else {int(number)}
    if not values or (item.kind != "positions" and (token.places or token.unit)) or token.unit not in ("", "k", "m"):
        return None
    word = KEYS.get(item.kind, item.kind)
    own = any(values & field_values(model).get(word, frozenset()) for model in subject.models)
    right = main_values(subject.models[0]).get(word)
    if not own and right is not None and may_be_otherwise(subject.models[0], item.kind, min(values), right):
        return None
    if item.kind == "hidden" and any(values & field_values(model).get("mlp", frozenset()) for model in subject.models):
        return None  # a hidden dimension of the feed-forward network
    return Listed(item, token, own)


def _meant_letter(text: str, item: Item, number: int, subject: Subject) -> Item:
    """Take ``d = 128`` for the width of a head and ``H = 32`` for the heads, where those are the model's and what the letter stands for first is not."""
    if not item.lettered or any(number in values_of(model, item.kind) for model in subject.models):
        return item
    letter = re.search(r"([A-Za-z])\W*$", text[: item.start])
    word = _OTHER_LETTERS.get(letter[1], "") if letter is not None else ""
    other = bool(word) and any(number in values_of(model, word) for model in subject.models)
    return item._replace(kind=word) if other else item


_OTHER_LETTERS = {"d": "head_dim", "H": "heads", "h": "hidden"}
