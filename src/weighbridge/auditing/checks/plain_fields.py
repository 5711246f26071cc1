"""Sizes that a sentence gives its one model, and says nothing else: each is the model's, or wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import is_padded, main_values, values_of
from weighbridge.auditing.checks.fields import OTHERWISE, field_claim, is_composite
from weighbridge.auditing.checks.names import ASIDE, Mention
from weighbridge.auditing.checks.plain_totals import PRONOUN, model_of_heading
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.plain_sizes import NAME, PlainSize, read_plain_sizes
from weighbridge.auditing.thresholds import ADDED_TOKENS, TOKENIZER_SHORT
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_SENTENCE = pattern(r"[。!?！？|]|\.(?!\d)")
_CLAUSE = pattern(r"[;；]|[,，](?!\d)(?:\s*(?:while|whereas|but|and|而|但)(?![a-z]))?|\b(?:while|whereas|but)\b|而", re.IGNORECASE)
_CLAUSE_BEFORE = pattern(
    r"(?:^|[,，:：(（])\W*(?:(?:例如|比如|譬如|诸如|对于?|以|在|就|e\.g\.,?|such as|like)[:：]?\s?)?$|[(（]\s?[如像]\s?$|(?:例如|比如|譬如|诸如)[:：]?\s?$",
    re.IGNORECASE,
)
"""The end of words in front of a name after which its clause begins: ``可以堆叠数十层（如 BERT-base``."""
_OF_IT = pattern(r"\s?(?:的|中的|系列的|[(（])?\s?")
"""Between a family's name and a member that is called by its size alone: ``GPT-2 的 1.5B 版本``."""
_FOR_ONE = pattern(r"\s?(?:来说|而言|来讲|为例|中|里)\s?[,，:：]?\s?(?!间)")
"""Behind a name, what ends the words that say whose sizes follow: ``对 Llama 3 8B 来说，d_model=4096``."""
_MOST_CLAUSES = 4
_COUNTED_IN = pattern(r"\b(?:count\w*|includ\w*|plus|when|after|before|except|without)\b|算上|包括|加上|去掉", re.IGNORECASE)
"""Words of a later clause by which a size counts more, or less, than the model's."""
_NEARLY = pattern(r"约|左右|\b(?:about|around)\b", re.IGNORECASE)
"""Words that make a figure a rounding, and no other model's."""
_IN_MLP = pattern(r"\b(?:mlps?|ffn|feed[- ]?forward)", re.IGNORECASE)
_HAS_ONE = pattern(NAME + r"\s?(?:has|have|uses|有)\s?(?P<number>\d{1,7})\W*", re.IGNORECASE)
"""A clause that leaves out what it counts: ``BERT-base has 12 layers, while BERT-large has 24``."""
_PAIRED = pattern(r"(?P<lead>\D*?)(?P<numbers>\d[\d,]*(?:(?:, (?:and )?| and |、| ?[和与] ?)\d[\d,]*)+)(?P<tail>[^\d]*)", re.IGNORECASE)
_RESPECTIVELY = pattern(r"[,，]?\s*respectively|分别", re.IGNORECASE)
_AND = pattern(r"[\s,、和与]*(?:and )?", re.IGNORECASE)
_MOST_NAMES = 6


class _Read(NamedTuple):
    """A size that a text gives a model, and where its number stands in the line."""

    mention: Mention
    size: PlainSize
    start: int


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes of sentences that say nothing but the sizes of the models they name.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line, mentions in scene.mentions.items():
        if line not in tabled and not is_of_their_own(scene, line) and not scene.is_line_judged(line):
            for found in _of_line(scene.lines[line].text, mentions):
                yield from _hold(scene, line, found)
    for line in range(len(scene.lines)):
        mention = model_of_heading(scene, line) if line not in tabled and PRONOUN.match(scene.lines[line].text) else None
        if mention is not None and not is_of_their_own(scene, line):
            for found in _of_pronouns(scene.lines[line].text, mention):
                yield from _hold(scene, line, found)


def _of_line(text: str, mentions: Sequence[Mention]) -> Iterator[_Read]:
    """Read each sentence of a line that names models."""
    start = 0
    for stop in [*(m.start() for m in _SENTENCE.finditer(text)), len(text)]:
        named = [m for m in mentions if start <= m.column and m.end <= stop]
        listed = len(named) > 1 and _RESPECTIVELY.search(text, start, stop) is not None
        if named and len(named) <= _MOST_NAMES and any(m.kind == MODEL for m in named):
            if not listed:
                yield from (one for one in _of_clauses(text, start, stop, named) if one.mention.kind == MODEL)
            elif all(m.kind == MODEL for m in named):
                yield from _of_lists(text, start, stop, named)
        if not any(m.column < stop < m.end for m in mentions):
            start = stop + 1


def _of_clauses(text: str, start: int, stop: int, named: Sequence[Mention]) -> Iterator[_Read]:
    """Read the clause of each model that a sentence names; one that leaves out the size's name has it from the clause before."""
    latest: Sequence[PlainSize] = ()
    led = {
        other.column
        for one, other in pairwise(named)
        if (one.kind == FAMILY or one.name == other.name) and other.name in one.names and _OF_IT.fullmatch(text, one.end, other.column)
    }
    named = [one for one, other in zip(named, [*named[1:], None], strict=True) if other is None or other.column not in led]
    for place, mention in enumerate(named):
        first, last = start, stop
        if place:
            breaks = list(_CLAUSE.finditer(text, named[place - 1].end, mention.column))
            if not breaks:
                return
            first = breaks[-1].end()
        if place + 1 < len(named):
            breaks = list(_CLAUSE.finditer(text, mention.end, named[place + 1].column))
            if not breaks:
                return
            last = breaks[-1].start()
        aside = ASIDE.search(text, mention.end, last)
        last = aside.start() if aside is not None else last
        first = mention.column if mention.column in led else first
        before, after = text[first : mention.column], text[mention.end : last]
        sizes = _read(before, after)
        lead = _CLAUSE_BEFORE.search(before) if not sizes else None
        if lead is not None and not OTHERWISE.search(before[: lead.start()]):
            first, before = mention.column, ""  # ``对 FFN,bert-base 的 intermediate_size=3072,``
            sizes = _read(before, after) or _read(before, _FOR_ONE.sub(lambda words: " " * len(words[0]), after, count=1))
        elliptic = _HAS_ONE.fullmatch(f"{NAME}{after}") if len(latest) == 1 and not sizes else None
        if elliptic is not None:
            number = PlainSize(latest[0].word, int(elliptic["number"]), *elliptic.span("number"))
            yield _Read(mention, number, mention.end - len(NAME) + number.start)
        for size in sizes:
            behind = size.start > len(before)
            yield _Read(mention, size, first + size.start + (mention.end - mention.column - len(NAME) if behind else 0))
        latest = sizes


def _read(before: str, after: str) -> Sequence[PlainSize]:
    """Read a clause, or else what of it is about the model where nothing behind that makes the model another."""
    aside = _CLOSED.match(before)  # ``(12 layers) and BERT Large``: parentheses belong to what stands before them
    before = " " * aside.end() + before[aside.end() :] if aside is not None else before
    whole = read_plain_sizes(f"{before}{NAME}{after}")
    if whole or OTHERWISE.search(_NEARLY.sub("", after)) or _COUNTED_IN.search(after):
        return whole
    clauses = (read_plain_sizes(f"{before}{NAME}{after[: comma.start()]}") for comma in list(_CLAUSE.finditer(after))[:_MOST_CLAUSES])
    return next((sizes for sizes in clauses if sizes), ())


_CLOSED = pattern(r"\W*[(（][^()（）]*[)）]")


def _of_lists(text: str, start: int, stop: int, named: Sequence[Mention]) -> Iterator[_Read]:
    """Read names and sizes in two lists: ``A and B have 12 and 24 layers, respectively``."""
    joined = all(_AND.fullmatch(text, one.end, other.column) for one, other in pairwise(named))
    behind = _PAIRED.fullmatch(text, named[-1].end, stop)
    if not joined or behind is None or text[start : named[0].column].strip(" -*#>"):
        return
    numbers = list(re.finditer(r"\d{1,3}(?:,\d{3})+|\d+", behind["numbers"]))
    lead, tail = _RESPECTIVELY.sub("", behind["lead"]), _RESPECTIVELY.sub("", behind["tail"])
    one = read_plain_sizes(f"{NAME}{lead}{numbers[0][0]}{tail}") if len(numbers) == len(named) else ()
    if len(one) == 1:
        for mention, number in zip(named, numbers, strict=True):
            size = PlainSize(one[0].word, int(number[0].replace(",", "")), *number.span())
            yield _Read(mention, size, behind.start("numbers") + number.start())


def _of_pronouns(text: str, mention: Mention) -> Iterator[_Read]:
    """Read the sentences of a line that begin with ``it``, for the model of the heading above."""
    start = 0
    for stop in [*(m.start() for m in _SENTENCE.finditer(text)), len(text)]:
        pronoun = PRONOUN.match(text[start:stop])
        if pronoun is not None:
            for size in _read("", text[start + pronoun.end() : stop]):
                yield _Read(mention, size, start + pronoun.end() + size.start - len(NAME))
        start = stop + 1


def _hold(scene: Scene, line: int, found: _Read) -> Iterator[Claim]:
    """Hold a size against the model that it is said of."""
    size, subject = found.size, of_mention(scene, found.mention, firm=True)
    if subject is None or not all(map(_has_one_of_each, subject.models)):
        return
    token = Token("num", "", line, found.start, found.start + size.end - size.start)
    word = "width" if size.word == "hidden" and _IN_MLP.search(scene.lines[line].text) else size.word
    values = [values_of(model, word) for model in subject.models]
    if any(size.value in one for one in values):
        yield field_claim(scene, token, size.word, size.value, size.value, "exact")
    elif subject.firm and values[0] and not (size.word == "head_dim" and len(values[0]) > 1):
        right = _right_value(subject.models[0], size.word, values[0])
        if size.word != "vocab" or not is_fair_vocabulary(size.value, right):
            yield field_claim(scene, token, size.word, size.value, right, "wrong")


def _has_one_of_each(model: ModelValue) -> bool:
    return model.description is not None and not is_composite(model)


def _right_value(model: ModelValue, word: str, values: frozenset[int]) -> int:
    return main_values(model).get(word, max(values))


def is_fair_vocabulary(entries: int, rows: int) -> bool:
    """Tell whether a number of words is that of a tokenizer, whose table has rows to spare or got some more, or one that is rounded."""
    near = abs(entries - rows) * TOKENIZER_SHORT <= rows
    if 0 < entries - rows <= ADDED_TOKENS:
        return True
    if is_padded(entries, rows) or is_padded(rows, entries) or (near and entries % 1000 == 0):
        return True
    return near and entries < rows and not is_slip(str(entries), str(rows))
