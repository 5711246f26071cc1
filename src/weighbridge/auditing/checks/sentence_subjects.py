"""Sentences of running text with the sizes that they say, each with the one model that its words, or those before it, name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from weighbridge.auditing.checks.brought_in import is_brought_in, is_compared
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.names import UNKNOWN, Mention
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.said_sizes import sizes_in_text
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import is_size_of, sentence_ends, widths_of
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.memory import once_for_each_scene, once_for_each_text
from weighbridge.auditing.thresholds import LISTED_REACH
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Sentence(NamedTuple):
    """A sentence with sizes, the model that it is about, and where the name ends if it stands in front of them."""

    line: int
    start: int
    stop: int
    sizes: tuple[DescribedSize, ...]
    name: str
    models: tuple[ModelValue, ...]
    behind: int | None

    @property
    def named(self) -> bool:
        """Whether the sentence names its model in front of its sizes."""
        return self.behind is not None

    def own(self) -> set[str]:
        """Return the kinds of the sizes that are the model's."""
        return {size.word for size in self.sizes if is_own_size(self.models, size)}

    def others(self) -> list[DescribedSize]:
        """Return the sizes that are none of the model's, whatever they are called."""
        return [size for size in self.sizes if not is_own_size(self.models, size) and not _is_any(self.models, size)]


def sections(scene: Scene, tabled: Collection[int]) -> Iterator[list[Sentence]]:
    """Group the sentences between two headings."""
    section: list[Sentence] = []
    for index, line in enumerate(scene.lines):
        if line.heading:
            yield section
            section = []
        if index in tabled or len(line.text) > LONGEST or not _DIGIT.search(line.text):
            continue
        sizes = sizes_of_line(scene, index)
        if sizes:
            section += _sentences(scene, index, sizes)
    yield section


def unnamed_sentences(scene: Scene, tabled: Collection[int], models: tuple[ModelValue, ...]) -> Iterator[Sentence]:
    """Yield the sentences with sizes that name nobody, as said of each of several models."""
    for index in scene.counted_lines:
        if index in tabled or len(scene.lines[index].text) > LONGEST:
            continue
        sizes, start = sizes_of_line(scene, index), 0
        for stop in (*_ends(scene, index), len(scene.lines[index].text)) if sizes else ():
            inside = tuple(size for size in sizes if start <= size.first and size.last <= stop)
            if inside and not any(start <= m.column < stop for m in scene.mentions.get(index, ())):
                yield Sentence(index, start, stop, inside, "", models, None)
            start = stop


def sizes_of_line(scene: Scene, index: int) -> list[DescribedSize]:
    """Return the sizes of a line, in words and in letters: ``XLM-R Base (L = 12, H = 768, A = 12)``."""
    found = {size.start: size for size in sizes_in_text(scene.lines[index].text)}
    for size in scene.stated_index.on.get(index, ()):
        first, last = (size.label, size.token) if size.label.start < size.token.start else (size.token, size.label)
        lettered = size.label.line == index and not size.listed and len(size.label.text) == 1
        if lettered and _OF_TOKENS.match(scene.lines[index].text, size.token.end) is None:
            found.setdefault(
                size.token.start, DescribedSize(size.word, size.value, size.token.start, size.token.end, first.start, last.end)
            )
    numbered = _HEADING_NUMBER.match(scene.lines[index].text)
    return [found[start] for start in sorted(found) if numbered is None or start >= numbered.end()]


_OF_TOKENS = pattern(r"\s?个?\s?(?:tokens?|词元|令牌)")
"""Behind a letter's value, what makes it a length: ``L=1024 tokens``."""
_HEADING_NUMBER = pattern(r"(?:\s|#|\\[a-z]+\*?)*\d{1,2}(?:\.\d{1,2})* (?![层个头维组])[A-Z\u4e00-\u9fff]")
"""The number of a heading: ``3 Layers``."""


def _sentences(scene: Scene, index: int, sizes: Sequence[DescribedSize]) -> Iterator[Sentence]:
    start = 0
    for stop in (*_ends(scene, index), len(scene.lines[index].text)):
        for first, last in _clauses_of_models(scene, index, start, stop):
            inside = tuple(size for size in sizes if first <= size.first and size.last <= last)
            if inside:
                mention, named = subject_of_sentence(scene, index, first, last, inside[0].first)
                subject = of_mention(scene, mention, firm=True) if mention is not None else None
                models = tuple(m for m in subject.models if m.description is not None) if subject is not None else ()
                if models and mention is not None and mention.name:
                    yield Sentence(index, first, last, inside, mention.name, models, mention.end if named else None)
        start = stop


def _clauses_of_models(scene: Scene, index: int, start: int, stop: int) -> Sequence[tuple[int, int]]:
    """Cut a sentence before each model that is the subject of a clause: ``The 7B has 32 layers, and the 70B variant 80``."""
    text = scene.lines[index].text
    inside = [m for m in scene.mentions.get(index, ()) if start <= m.column < stop]
    names = {m.name for m in inside}
    if len(names) != len(inside) or len(inside) < _SEVERAL or any(m.kind != MODEL for m in inside):
        return ((start, stop),)
    cuts = [start, *(m.column for m in inside[1:]), stop]
    led = all(_CLAUSE_BEGINS.search(text, start, m.column) for m in inside[1:])
    told = all(_DIGIT.search(text, m.end, cut) for m, cut in zip(inside, cuts[1:], strict=True))
    return list(pairwise(cuts)) if led and told and not _RESPECTIVELY.search(text, start, stop) else ((start, stop),)


_SEVERAL = 2
_CLAUSE_BEGINS = pattern(r"(?:[,;，；]\s?(?:(?:and|while|whereas|but)\s)?|\b(?:while|whereas|and)\s)(?:the\s)?[*_`]*$", re.IGNORECASE)
_RESPECTIVELY = pattern(r"\brespectively\b|分别", re.IGNORECASE)


def _ends(scene: Scene, index: int) -> list[int]:
    """Return where the sentences and cells of a line end."""
    text, mentions = scene.lines[index].text, scene.mentions.get(index, ())
    return _ends_outside(text, tuple([(m.column, m.end) for m in mentions]))


@once_for_each_text
def _ends_outside(text: str, spans: tuple[tuple[int, int], ...]) -> list[int]:
    found = (*sentence_ends(text), *(m.end() for m in _CELL.finditer(text)))
    return sorted(end for end in found if not any(column < end <= stop for column, stop in spans))


def sentence_bounds(scene: Scene, index: int, column: int) -> tuple[int, int]:
    """Return where the sentence or cell of a place begins and ends."""
    ends = _ends(scene, index)
    place = bisect_right(ends, column)
    return ends[place - 1] if place else 0, ends[place] if place < len(ends) else len(scene.lines[index].text)


def subject_of_sentence(scene: Scene, index: int, start: int, stop: int, first: int) -> tuple[Mention | None, bool]:
    """Return the model that a sentence is about: the one it names, or the one that the text before it names last."""
    mentions = scene.mentions.get(index, ())
    inside = [m for m in mentions if start <= m.column < stop and not is_compared(scene.lines[index].text, start, m.column)]
    if inside:
        one = len({m.name for m in inside if m.kind == MODEL}) == 1 and all(m.kind != UNKNOWN for m in inside)
        model = next((m for m in inside if m.kind == MODEL), None)
        return (model if one else None), model is not None and model.end <= first
    earlier = [m for m in mentions if m.column < start]
    for above in (index, *scene.naming_lines(index, LISTED_REACH)):
        named = earlier if above == index else scene.mentions.get(above, ())
        models = [m for m, _ in _at_hand(scene.lines[above].text, named) if m.kind == MODEL]
        if models:
            return (models[0] if len({m.name for m in models}) == 1 or not models[0].column else None), False
        if any(m.kind == UNKNOWN for m in named) and scene.lines[above].heading:
            return None, False
    return None, False


OPENS_WITH_IT = pattern(
    r"\W*(?:it|(?:the|this) (?:model|architecture|network)|this (?:variant|version|checkpoint))\b(?! (?:card|zoo|hub|family|parallel))",
    re.IGNORECASE,
)
"""The beginning of a sentence about the model at hand."""


@once_for_each_scene
def only_model(scene: Scene) -> str | None:
    """Return the model that a text is about if it names no other: all that it says of sizes is of that one."""
    named = [one for line, found in scene.mentions.items() for one in _at_hand(scene.lines[line].text, found)]
    models = {m.name: text[m.column : m.end] for m, text in named if m.kind == MODEL}
    if len(models) != 1:
        return None
    name, written = next(iter(models.items()))

    def is_it(mention: Mention, text: str) -> bool:
        short = _LETTERS.sub("", text[mention.column : mention.end]).lower()
        return name in mention.names or _LETTERS.sub("", written).lower().startswith(short)

    return name if all(is_it(*one) for one in named) else None


def _at_hand(text: str, found: Sequence[Mention]) -> Iterator[tuple[Mention, str]]:
    """Yield the models of a line with its text, but for those that are only brought in: ``comparable to models like GPT-Neo and OPT-125M``."""
    end = -1
    for mention in found:
        if is_brought_in(text, mention) or (end >= 0 and _AND.fullmatch(text, end, mention.column)):
            end = mention.end
        else:
            end = -1
            yield mention, text


_AND = pattern(r"\s?(?:(?:,|,? and|,? or)\s|/\s?)", re.IGNORECASE)
_LETTERS = pattern(r"[\W_]")


_DIGIT = pattern(r"\d")
_CELL = pattern(r"\||\s[•·∙](?=\s)")


def is_own_size(models: Sequence[ModelValue], size: DescribedSize) -> bool:
    """Tell whether a number is the size of that name of one of the models, or a tokenizer's number of words."""
    return any(size.value in widths_of(model, size.word) or _is_vocabulary(model, size) for model in models)


def _is_any(models: Sequence[ModelValue], size: DescribedSize) -> bool:
    words = WIDTHS if size.word in WIDTHS else (size.word,)
    return is_size_of(models, size) or any(size.value in values_of(model, word) for model in models for word in words)


WIDTHS = ("hidden", "mlp", "head_dim", "width")


def _is_vocabulary(model: ModelValue, size: DescribedSize) -> bool:
    rows = main_values(model).get("vocab")
    return size.word == "vocab" and rows is not None and is_fair_vocabulary(size.value, rows)
