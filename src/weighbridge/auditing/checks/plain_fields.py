"""Sizes that a sentence gives its one model, and says nothing else: each is the model's, or wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from weighbridge.auditing.checks.configuration import NAMES, is_of_their_own
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import field_values, is_padded, main_values
from weighbridge.auditing.checks.fields import OTHERWISE, is_composite
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.plain_sizes import NAME, PlainSize, read_plain_sizes
from weighbridge.auditing.thresholds import TOKENIZER_SHORT
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_SENTENCE = re.compile(r"[。!?！？|]|\.(?!\d)")
_CLAUSE = re.compile(r"[;；，]|,(?!\d)")
_MOST_CLAUSES = 4
_COUNTED_IN = re.compile(r"\b(?:count\w*|includ\w*|plus|when|after|before|except|without)\b|算上|包括|加上|去掉", re.IGNORECASE)
"""Words of a later clause by which a size counts more, or less, than the model's."""
_IN_MLP = re.compile(r"\b(?:mlps?|ffn|feed[- ]?forward)", re.IGNORECASE)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes of sentences that name one model and say nothing but its sizes.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line, mentions in scene.mentions.items():
        if line in tabled or is_of_their_own(scene, line):
            continue
        for mention in mentions:
            if mention.kind == MODEL:
                yield from _of_mention(scene, line, mention)


def _of_mention(scene: Scene, line: int, mention: Mention) -> Iterator[Claim]:
    text = scene.lines[line].text
    start = max((m.end() for m in _SENTENCE.finditer(text, 0, mention.column)), default=0)
    ending = _SENTENCE.search(text, mention.end)
    stop = ending.start() if ending is not None else len(text)
    sizes = _read(text[start : mention.column], text[mention.end : stop])
    subject = of_mention(scene, mention, firm=True) if sizes else None
    if subject is None or not all(map(_has_one_of_each, subject.models)):
        return
    moved = mention.end - mention.column - len(NAME)
    for size in sizes:
        shift = start + (moved if start + size.start > mention.column else 0)
        token = Token("num", "", line, size.start + shift, size.end + shift)
        word = "width" if size.word == "hidden" and _IN_MLP.search(text, start, stop) else size.word
        values = [_values(model, word) for model in subject.models]
        if any(size.value in one for one in values):
            yield _claim(scene, token, size, size.value, "exact")
        elif (
            subject.firm
            and values[0]
            and not (size.word == "head_dim" and len(values[0]) > 1)
            and not _is_fair(size, right := _right(subject.models[0], size.word, values[0]))
        ):
            yield _claim(scene, token, size, right, "wrong")


def _read(before: str, after: str) -> list[PlainSize]:
    """Read a sentence, or else its clause about the model where nothing behind that makes the model another."""
    whole = read_plain_sizes(f"{before}{NAME}{after}")
    if whole or OTHERWISE.search(after) or _COUNTED_IN.search(after):
        return whole
    clauses = (read_plain_sizes(f"{before}{NAME}{after[: comma.start()]}") for comma in list(_CLAUSE.finditer(after))[:_MOST_CLAUSES])
    return next((sizes for sizes in clauses if sizes), [])


def _has_one_of_each(model: ModelValue) -> bool:
    return model.description is not None and not is_composite(model)


def _values(model: ModelValue, word: str) -> frozenset[int]:
    """Return all that a size may be in a model; the width of a head is computed where no field holds it."""
    values = field_values(model).get(word, frozenset())
    own = main_values(model)
    if word == "head_dim" and {"hidden", "heads"} <= own.keys() and own["hidden"] % own["heads"] == 0:
        return values | {own["hidden"] // own["heads"]}
    if word == "kv_heads" and not values and "heads" in own:
        return frozenset((own["heads"],))
    return values


def _right(model: ModelValue, word: str, values: frozenset[int]) -> int:
    return main_values(model).get(word, max(values))


def _is_fair(size: PlainSize, right: int) -> bool:
    """Tell whether a number of words is that of a tokenizer, whose table has rows to spare, or one that is rounded."""
    if size.word != "vocab":
        return False
    near = abs(size.value - right) * TOKENIZER_SHORT <= right
    if is_padded(size.value, right) or (near and size.value % 1000 == 0):
        return True
    return near and size.value < right and not is_slip(str(size.value), str(right))


def _claim(scene: Scene, token: Token, size: PlainSize, right: int, verdict: str) -> Claim:
    reason = () if verdict == "exact" else because(mark("{what} is {right}"), what=Sentence(NAMES[size.word]), right=right)
    facts: dict[str, object] = {"value": size.value, "expected": right, "difference": size.value - right, "reason": reason}
    return claim(scene.lines, token, token, "configuration", verdict, **facts)
