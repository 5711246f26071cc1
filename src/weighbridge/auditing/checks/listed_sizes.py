"""Lists of one model's sizes: behind its name, in parentheses, in the lines below it, in a cell of its row; what most of them settle makes one wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from weighbridge.auditing.checks import totals
from weighbridge.auditing.checks.configuration import is_of_their_own
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.fields import OTHERWISE, is_composite
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import is_no_size, size_claims
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.items import Item, read_items
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS, FIELD_REACH, LEAD_LETTERS
from weighbridge.presets.aliases import MODEL

_LONGEST = 600
"""Characters of a line that is a list of sizes."""


class Listed(NamedTuple):
    """An item of a list, with the token of its number and whether it is the model's."""

    item: Item
    token: Token
    own: bool


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the lists of sizes that stand behind a model's name, or below it."""
    block: list[Listed] = []
    subject: Subject | None = None
    since = 0
    for index, line in enumerate(scene.lines):
        named = scene.mentions.get(index, ())
        if named or line.heading:
            yield from _judge(scene, block, subject)
            block, subject, since = [], None, index
        if index in tabled or len(line.text) > _LONGEST or not line.text.strip():
            continue
        if named and len({m.names for m in named}) == 1 and named[0].kind == MODEL:
            last = named[-1]
            if not OTHERWISE.search(line.text[: named[0].column]) and not is_of_their_own(scene, index):
                subject = of_mention(scene, named[0], firm=True)
                block = list_sizes(scene, index, last.end, len(line.text), subject) if subject is not None else []
            if not _leads(scene, index, named):
                yield from _judge(scene, block, subject)
                block, subject = [], None
        elif named:
            yield from _pieces(scene, index, named)
        elif subject is not None and index - since <= FIELD_REACH:
            found = list_sizes(scene, index, 0, len(line.text), subject)
            since = index if found else since
            block += found
    yield from _judge(scene, block, subject)


def _pieces(scene: Scene, index: int, named: Sequence[Mention]) -> Iterator[Claim]:
    """Check the lists behind each of several names on one line: ``BERT-base (12L, 768H) and BERT-large (24L, 1024H)``."""
    ends = [*(m.column for m in named[1:]), len(scene.lines[index].text)]
    for mention, end in zip(named, ends, strict=True):
        subject = of_mention(scene, mention, firm=True) if mention.kind == MODEL else None
        if subject is not None and scene.lines[index].text[mention.end :].lstrip(" *`_")[:1] in ("(", "（", ":", "："):
            yield from _judge(scene, list_sizes(scene, index, mention.end, end, subject), subject)


def _leads(scene: Scene, index: int, named: Sequence[Mention]) -> bool:
    """Tell whether a line that names a model opens what stands below it."""
    line = scene.lines[index]
    plain = line.text.strip().strip("*_#`= ")
    rest = len(re.sub(r"[\W_]", "", plain)) - sum(m.end - m.column for m in named)
    return bool(line.heading) or plain.endswith((":", "：")) or rest <= LEAD_LETTERS


def list_sizes(scene: Scene, index: int, start: int, end: int, subject: Subject) -> list[Listed]:
    """Return the sizes that a stretch of a line lists, unless its other words make the model another."""
    text = scene.lines[index].text
    if not re.search(r"\d", text[start:end]):
        return []
    items = list(read_items(text, start, end))
    place, rest = start, []
    for item in items:
        rest.append(text[place : item.start])
        place = item.end
    words = _HARMLESS.sub(" ", " ".join((*rest, text[place:end])))
    if OTHERWISE.search(words):
        return []
    return [listed for item in items if (listed := _held(text, index, item, subject)) is not None]


_HARMLESS = re.compile(r"\b(?:each|per layer|per head|group|groups|only|up to|first|from)\b|每层|每个?头|约", re.IGNORECASE)


def _held(text: str, index: int, item: Item, subject: Subject) -> Listed | None:
    found = tokens(text[item.start : item.end], index)
    if not found or found[0].kind != "num" or found[0].value is None:
        return None
    token = found[0]._replace(start=item.start, end=item.end)
    if item.kind in ("total", "active"):
        return Listed(item, token, settle(token, subject.models, item.kind) is not None) if totals.is_count(token) else None
    if token.unit or token.places:
        return None
    value = int(token.value or 0)
    return Listed(item, token, any(value in field_values(model).get(item.kind, ()) for model in subject.models))


def _judge(scene: Scene, block: Sequence[Listed], subject: Subject | None) -> Iterator[Claim]:
    """Confirm what is the model's; one item that is not is wrong where at least two others are, of other kinds."""
    if subject is None or not block:
        return
    right = {listed.item.kind for listed in block if listed.own}
    odd = [listed for listed in block if not listed.own]
    plain = bool(subject.models) and all(model.description is not None and not is_composite(model) for model in subject.models)
    sure = plain and len(right) >= AGREED_FIELDS and len(odd) * 2 <= len(right)
    for listed in block if len(block) > 1 else ():
        yield from hold(scene, listed, subject, sure=sure and (listed.own or listed.item.kind not in right))


def hold(scene: Scene, listed: Listed, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    """Hold one item of a list against its model; it is wrong only where that is sure."""
    item, token = listed.item, listed.token
    if item.kind in ("total", "active"):
        found = settle(token, subject.models, item.kind)
        if found is not None:
            yield totals.total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif sure:
            yield from totals.wrong(scene, token, subject, item.kind, sure=True)
        return
    value = int(token.value or 0)
    if listed.own or (sure and not (item.lettered and not is_no_size(subject.models, value))):
        yield from size_claims(scene, token, item.kind, value, subject, sure=sure, plain=sure)
