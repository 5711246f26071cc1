"""The sizes that running text says, paragraph by paragraph, with the model that each is said of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.checks.topics import topic, widths_of
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import HEADING_NUMBER, DescribedSize, find_described_sizes
from weighbridge.auditing.text.field_words import read_fields
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class SaidSize(NamedTuple):
    """A size with its line, the mention that it is said of, and whether the number is one of that model's."""

    line: int
    size: DescribedSize
    mention: Mention
    models: tuple[ModelValue, ...]
    own: bool


def sizes_by_model(scene: Scene, tabled: Collection[int]) -> dict[str | None, list[SaidSize]]:
    """Return the sizes of running text by the model that they are said of."""
    found: dict[str | None, list[SaidSize]] = {}
    for passage in passages(scene, tabled):
        found.setdefault(passage[0].mention.name, []).extend(passage)
    return found


def passages(scene: Scene, tabled: Collection[int]) -> Sequence[Sequence[SaidSize]]:
    """Return the sizes of a text, those of a paragraph grouped by the model that they are said of; several checks ask for them."""
    return _passages(scene, frozenset(tabled))


@once_for_each_scene
def _passages(scene: Scene, tabled: frozenset[int]) -> Sequence[Sequence[SaidSize]]:
    return tuple(_read_passages(scene, tabled))


def _read_passages(scene: Scene, tabled: Collection[int]) -> Iterator[list[SaidSize]]:
    groups: dict[str | None, list[SaidSize]] = {}
    for index, line in enumerate(scene.lines):
        if not line.text.strip() or line.heading:
            yield from groups.values()
            groups = {}
        if index in tabled or "|" in line.text:
            continue
        for size in sizes_in_text(line.text) if _DIGIT.search(line.text) else ():
            found = topic(scene, index, size.first)
            mention = found.mention if found is not None else _mention_of_given_model(scene, size)
            subject = of_mention(scene, mention, firm=True) if mention is not None else None
            models = tuple(model for model in subject.models if model.description is not None) if subject is not None else ()
            if mention is not None and models:
                own = any(size.value in widths_of(model, size.word) or _is_vocabulary(model, size) for model in models)
                groups.setdefault(mention.name, []).append(SaidSize(index, size, mention, models, own))
    yield from groups.values()


def sizes_in_text(text: str) -> list[DescribedSize]:
    """Return the sizes that a line says in running text, and those it lists as settings, each number once."""
    found = {size.start: size for size in find_described_sizes(text)}
    for field in read_fields(text) if len(text) <= LONGEST else ():
        if field.word in SIZE_TITLES and not (field.start == 0 and HEADING_NUMBER.match(text)):
            found.setdefault(field.start, DescribedSize(field.word, field.value, field.start, field.end, field.start, field.end))
    return [
        found[start] for start in sorted(found) if not (found[start].word == "layers" and _IN_LAYER.search(text, 0, found[start].first))
    ]


_DIGIT = pattern(r"\d")
_IN_LAYER = pattern(r"\b(?:each|every) (?:layer|block) (?:has|contains|consists of)\s?$|每一?层(?:有|包含|含)\s?$", re.IGNORECASE)
"""Before a number of blocks that a layer has: ``each layer has 8 feed-forward blocks``."""


def _is_vocabulary(model: ModelValue, size: DescribedSize) -> bool:
    """Tell whether a number of words is a tokenizer's, or the model's rounded: ``128,000`` of 128,256 is no slip."""
    rows = main_values(model).get("vocab")
    return size.word == "vocab" and rows is not None and is_fair_vocabulary(size.value, rows)


def _mention_of_given_model(scene: Scene, size: DescribedSize) -> Mention | None:
    """Return a mention of the model that was given with the text, where a size is that model's: it may confirm, and alarms nobody."""
    if not scene.given or scene.main is None or size.value not in widths_of(scene.models[""], size.word):
        return None
    return Mention(0, scene.main.name, 0, (scene.main.name,), MODEL)
