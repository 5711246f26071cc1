"""Sentences that open with a model's name and say what it has: ``BERT base has a total of 12 attention heads (...) and 110 million parameters``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.count_doubts import is_active, is_hedged
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import field_claim, is_composite
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import WIDTHS, sentence_bounds
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import belongs_to_a_part
from weighbridge.auditing.checks.stated_fields import named_sentences
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize, find_described_sizes
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets.aliases import MODEL

_OPENS = pattern(
    r"[\W_]*(?:(?:the|whereas|while|and|but|in contrast,?|meanwhile,?|meta['’]s|google['’]s|openai['’]s|microsoft['’]s)\s)*[*_`\"'\[]*",
    re.IGNORECASE,
)
_HAS = pattern(
    r"[*_`\"'\]]*(?:\([^()\d]*\))?(?:\s(?:model|architecture|network|encoder|itself|also|only))*\s(?:has|have|uses?|consists? of|is composed of|comprises?|contains?|features?|employs?|stacks?|is (?:built|made) of)\s",
    re.IGNORECASE,
)
_COUNT = pattern(
    r"(?<![\w.,-])\d+(?:\.\d+)?[ -]?(?:million|billion|[MB])(?=[ -](?:trainable |total )?(?:param(?:eter)?s?\b))", re.IGNORECASE
)
_TURNS = pattern(
    r"\b(?:while|whereas|but|compared|unlike|than|versus|vs|instead|like|similar|as opposed|so that|because|if|when|after|before|by|from|for)\b|[;:|]|\d\s?[×*]|=",
    re.IGNORECASE,
)
"""Where what the model has may end."""
_ELSE = pattern(
    r"\b(?:first|last|top|bottom|each|every|per|more|fewer|less|extra|additional|another|other|up to|at (?:least|most)|between|over|some|most|only|also|final|output|classif\w*|adapters?|lora|rank|prun\w*|fr[eo]z\w*|"
    r"remov\w*|drop\w*|kept|keeps?|group\w*|split|shar\w*|non-embedding|trainable|vision|image|audio|dense|local|global|sliding|conv\w*|stages?|teacher|student|distill?\w*|version|variant)\b",
    re.IGNORECASE,
)
_ASIDE = pattern(r"\([^()]*\)")
_BEHIND = pattern(
    r"[^.,;:()]{0,24}\b(?:on|counting|includ\w*|plus|per|each|every|which|that|at|kept|for|in total with|left|instead|rather)\b|,?\s?[(]?(?:counting|including|plus|with the|if|not|without|when)\b",
    re.IGNORECASE,
)
"""Behind a size, what counts it otherwise: ``20 layers on the GPU``, ``13 layers, counting the embeddings``."""
_OF_MLP = pattern(r"feed|ffn|mlp|intermediate", re.IGNORECASE)
_SIZES = frozenset("layers heads kv_heads hidden experts vocab mlp".split())


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes and the counts that stand behind the verb of such a sentence.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line, mentions in named_sentences(scene, tabled):
        for mention in mentions if not scene.is_line_judged(line) else ():
            extent = _extent(scene, line, mention)
            subject = of_mention(scene, mention, firm=True) if extent is not None else None
            if extent is not None and subject is not None and subject.firm and subject.models[0].description is not None:
                yield from _sizes(scene, line, extent, subject)
                yield from _counts(scene, line, extent, subject)


def _extent(scene: Scene, line: int, mention: Mention) -> tuple[int, int] | None:
    """Return from where to where a sentence says what the model has that it opens with, asides left out of what ends it."""
    text, named = scene.lines[line].text, scene.mentions[line]
    start, stop = sentence_bounds(scene, line, mention.column)
    verb = _HAS.match(text, mention.end)
    begins = max([start, *(m.end() for m in _CLAUSE.finditer(text, start, mention.column))])
    if (
        mention.kind != MODEL
        or verb is None
        or _OPENS.fullmatch(text, begins, mention.column) is None
        or SUPPOSED.search(text, start, stop)
    ):
        return None
    plain = _ASIDE.sub(lambda found: " " * len(found[0]), text[:stop])
    turn = _TURNS.search(plain, verb.end())
    ends = [stop, *(m.column for m in named if m.column >= verb.end()), *([turn.start()] if turn is not None else [])]
    return verb.end(), min(ends)


_CLAUSE = pattern(r"\b(?:while|whereas|but)\b|;\s|,\s(?=while|whereas|but)", re.IGNORECASE)


def _sizes(scene: Scene, line: int, extent: tuple[int, int], subject: Subject) -> Iterator[Claim]:
    text, model = scene.lines[line].text, subject.models[0]
    inside = [size for size in find_described_sizes(text) if extent[0] <= size.first and size.last <= extent[1] and size.word in _SIZES]
    odd = [size for size in inside if not any(_is_own(one, size) for one in subject.models)]
    for size in inside:
        token = Token("num", "", line, size.start, size.end)
        if scene.is_judged(line, size.start, size.end):
            continue
        if size not in odd:
            yield field_claim(scene, token, size.word, size.value, size.value, "exact")
            continue
        right = main_values(model).get(size.word)
        words = _ASIDE.sub(" ", text[extent[0] : size.first])[-_REACH:] + " " + text[size.end : size.last]
        if len(odd) > 1 or right is None or is_composite(model) or len(values_of(model, size.word)) != 1 or size.value <= 1:
            continue
        if size.word == "hidden" and _OF_MLP.search(words):
            continue  # ``feedforward hidden dims 49152``
        if (
            _BEHIND.match(text, size.last)
            or _ELSE.search(words)
            or ANOTHER.search(words)
            or belongs_to_a_part(text, size.end)
            or _is_fair(size, right)
        ):
            continue
        yield field_claim(scene, token, size.word, size.value, right, "wrong")


_REACH = 60


def _is_own(model: object, size: DescribedSize) -> bool:
    words = WIDTHS if size.word in WIDTHS else ("heads", "kv_heads") if size.word in ("heads", "kv_heads") else (size.word,)
    return any(size.value in values_of(model, word) for word in words)  # type: ignore[arg-type]


def _is_fair(size: DescribedSize, right: int) -> bool:
    """Tell whether a number of words is a tokenizer's, or one in thousands."""
    return size.word == "vocab" and abs(size.value - right) * _TOKENIZER <= right


_TOKENIZER = 20


def _counts(scene: Scene, line: int, extent: tuple[int, int], subject: Subject) -> Iterator[Claim]:
    text = scene.lines[line].text
    for found in _COUNT.finditer(text, *extent):
        token = next((one for one in tokens(found[0].replace("-", " "), line) if one.kind == "num"), None)
        before = _ASIDE.sub(" ", text[extent[0] : found.start()])
        if token is None or not token.unit or is_active(before, text[found.end() : extent[1]]):
            continue
        token = token._replace(start=found.start(), end=found.end())
        held = settle(token, subject.models, hedged=is_hedged(before), whole=True)
        if held is not None:
            yield total_claim(scene, token, held.verdict, held.expected, held.reason)
        elif not _ELSE.search(before[-_REACH:]) and not is_near(token, subject.models):
            yield from report_wrong_count(scene, token, subject, "total")
