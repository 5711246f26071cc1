"""A product in words beside the same product in numbers: ``2 × layers × kv_heads × head_dim = 2 × 80 × 8 × 128``; each number is the size it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import OTHERWISE, field_claim
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.checks.topics import Topic, is_composite, topic
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_TIMES = pattern(r"\s?[×*·]\s?|(?<=[\w)])\s+x\s+(?=[\w(])")
_EQUALS = pattern(r"(?<![=!<>≈])=(?!=)")
_NUMBER = pattern(r"\W*(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})(?![\d.])\s?(?:[(（][^()（）]*[)）]|[A-Za-z_\u4e00-\u9fff-]+)?\s*")
_REMARK = pattern(r"[(（][^()（）]*[)）]")
_WORD = pattern(r"[A-Za-z/]+|[\u4e00-\u9fff]+")
_PLAIN = frozenset("the of number total num n model transformer decoder attention all 总 的".split())
"""Words before the name of a size that leave it the model's."""
_LEAST, _MOST = 3, 12
"""Factors that a product has at least, and at most."""


class _Factor(NamedTuple):
    """A number that stands for a size, and where it stands."""

    word: str
    value: int
    line: int
    start: int
    end: int


class _Side(NamedTuple):
    """One side of an equation: its factors with their line and column."""

    line: int
    factors: tuple[tuple[str, int], ...]


def check(scene: Scene) -> Iterator[Claim]:
    """Hold each number of such a product against the model its place is about; one is wrong if two others are the model's and it is not."""
    before: list[_Side] = []
    for index, line in enumerate(scene.lines):
        if len(line.text) > LONGEST or "|" in line.text or ("=" not in line.text and not before):
            before = []
            continue
        sides = [*before, *_sides(index, line.text)]
        for one, other in pairwise(sides):
            found = _pair(one, other)
            about = topic(scene, other.line, found[0].start) if found else None
            if about is not None:
                yield from _hold(scene, found, about)
        before = sides[-1:] if sides and (line.text.rstrip(" `$").endswith("=") or _opens_item(scene, index + 1)) else []


def _opens_item(scene: Scene, index: int) -> bool:
    return index < len(scene.lines) and scene.lines[index].text.lstrip(" `$").startswith("=")


def _sides(index: int, text: str) -> Iterator[_Side]:
    """Yield the sides of a line's equations that are products."""
    start, multiplied = 0, len(_TIMES.findall(text)) >= _LEAST - 1
    for stop in (*(match.start() for match in _EQUALS.finditer(text)), len(text)):
        factors, place = [], start
        for sign in (*(_TIMES.finditer(text, start, stop) if multiplied else ()), None):
            last = stop if sign is None else sign.start()
            factors.append((text[place:last], place))
            place = last if sign is None else sign.end()
        if text[start:stop].strip():
            yield _Side(index, tuple(factors) if len(factors) >= _LEAST else ())
        start = stop + 1


def _pair(words: _Side, figures: _Side) -> list[_Factor]:
    """Return the numbers of the second side that stand where the first has the name of a size."""
    if len(words.factors) != len(figures.factors) or len(words.factors) > _MOST:
        return []
    found = []
    for (name, _), (text, column) in zip(words.factors, figures.factors, strict=True):
        number = _NUMBER.fullmatch(text.rstrip(" `$.,;。"))
        word = _size_of(name)
        if word is not None and number is not None:
            start, end = (column + place for place in number.span("number"))
            found.append(_Factor(word, int(number["number"].replace(",", "")), figures.line, start, end))
    return found


def _size_of(name: str) -> str | None:
    """Return the size that a factor names at its end: ``Cache = 2 × num_layers``."""
    words = _WORD.findall(_REMARK.sub(" ", name).replace("_", " ").lower())
    for first in range(max(0, len(words) - 4), len(words)):
        phrase = " ".join(words[first:])
        if phrase in LABELS and LABELS[phrase] in SIZE_TITLES:
            return LABELS[phrase] if _PLAIN.issuperset(words[:first]) else None  # ``local layers`` are not all of them
    return None


def _hold(scene: Scene, found: list[_Factor], about: Topic) -> Iterator[Claim]:
    subject = of_mention(scene, about.mention, firm=True)
    if subject is None or not subject.firm or any(model.description is None for model in subject.models):
        return
    held = [factor for factor in found if factor.word not in ("positions", "types")]
    other = [factor for factor in held if not any(_is_own(model, factor) for model in subject.models)]
    for factor in held:
        if factor not in other:
            yield _claim(scene, factor, factor.value)
    kinds = {factor.word for factor in held if factor not in other}
    if len(other) != 1 or len(kinds) < AGREED_FIELDS or is_of_their_own(scene, other[0].line) or any(map(is_composite, subject.models)):
        return
    right = main_values(subject.models[0]).get(other[0].word) or max(values_of(subject.models[0], other[0].word), default=0)
    vocabulary = other[0].word == "vocab" and is_fair_vocabulary(other[0].value, right)
    if right and not vocabulary and not OTHERWISE.search(scene.lines[other[0].line].text[: found[0].start]):
        yield _claim(scene, other[0], right)


_ALIKE = {"heads": ("heads", "kv_heads"), "hidden": ("hidden", "mlp", "head_dim")}
"""Sizes that a formula may mean by a word: the heads of a cache are those of keys and values."""


def _is_own(model: ModelValue, factor: _Factor) -> bool:
    return any(factor.value in values_of(model, word) for word in _ALIKE.get(factor.word, (factor.word,)))


def _claim(scene: Scene, factor: _Factor, right: int) -> Claim:
    token = Token("num", "", factor.line, factor.start, factor.end)
    return field_claim(scene, token, factor.word, factor.value, right, "exact" if factor.value == right else "wrong")
