"""Sizes of a model's config that lines say in words, and the models that each is said of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.names import ANOTHER, ASIDE, Mention
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import MOST_MEMBERS
from weighbridge.auditing.text.field_words import Field, label_of_line, read_fields
from weighbridge.auditing.thresholds import FIELD_GAP, FIELD_REACH, LEAD_LETTERS, LISTED_REACH
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


LONGEST = 10_000
"""Characters of a line that is a sentence or a row of a table."""


class StatedField(NamedTuple):
    """A size with its place and what it is said of."""

    line: int
    field: Field
    models: tuple[ModelValue, ...]
    name: str
    near: bool


def named_sentences(scene: Scene, tabled: Collection[int]) -> Iterator[tuple[int, Sequence[Mention]]]:
    """Yield the lines of running text that name models, with the names: no row of a table of models, no model of the author's own."""
    for line in scene.named_lines:
        if line not in tabled and len(scene.texts[line]) <= LONGEST and not is_of_their_own(scene, line):
            yield line, scene.mentions[line]


def fields_of_line(scene: Scene, index: int) -> Iterator[StatedField]:
    """Yield the sizes that a line says in words, or alone below a line that names a size, with the models they are of."""
    text = scene.lines[index].text
    if not re.search(r"\d", text):
        return
    fields = list(read_fields(text)) if len(text) <= LONGEST else []
    alone = re.fullmatch(r"[\s*|`~≈]*(\d{1,3}(?:,\d{3})+|\d{1,7})[\s*|`]*", text)
    if alone is not None and not fields:
        above = next((scene.lines[i].text for i in range(index - 1, max(-1, index - 3), -1) if scene.lines[i].text.strip()), "")
        word = label_of_line(above)
        if word is not None:
            fields = [Field(word, int(alone[1].replace(",", "")), *alone.span(1), True)]
    named = scene.mentions.get(index, ())
    for field in fields:
        if not any(m.column <= field.start < m.end for m in named):
            models, name, near = _models(scene, index, field)
            if models:
                yield StatedField(index, field, models, name, near)


def _models(scene: Scene, index: int, field: Field) -> tuple[tuple[ModelValue, ...], str, bool]:
    """Return the models that a size may be of, what they are called, and whether a name of one model stands close enough to be sure."""
    if scene.given:
        return (scene.models[""],), scene.main.name if scene.main else "", True
    before = [m for m in scene.mentions.get(index, ()) if m.end <= field.start]
    if before and any(words.search(scene.lines[index].text, before[-1].end, field.start) for words in (ANOTHER, ASIDE)):
        return (), "", False
    if before:
        return *_of_mention(before[-1]), before[-1].kind == MODEL
    after = [m for m in scene.mentions.get(index, ()) if m.column >= field.end and m.column - field.end <= FIELD_GAP]
    if after and re.search(r"(?:of|in|for|的|[(（])\W*$", scene.lines[index].text[field.end : after[0].column]):
        return *_of_mention(after[0]), False
    for above in scene.naming_lines(index, LISTED_REACH):
        mentions = scene.mentions[above]
        models = [m for m in mentions if m.kind == MODEL]
        if mentions and not models and (index - above > FIELD_REACH or mentions[-1].kind != FAMILY):
            return (), "", False  # another model is spoken of, that is not known
        if mentions:
            return *_of_mention(models[-1] if models else mentions[-1]), len({m.names for m in models}) == 1 and _leads(scene, above)
    model = scene.model_at(index, field.start)
    return ((model,), "", False) if model is not None else ((), "", False)


def _leads(scene: Scene, line: int) -> bool:
    """Tell whether a line that names a model opens what stands below it: a heading, the name alone, words that end in a colon."""
    one = scene.lines[line]
    named = scene.mentions[line]
    plain = one.text.strip().strip("*_# ")
    rest = len(re.sub(r"[\W_]", "", plain)) - sum(m.end - m.column for m in named)
    if _is_one_of_several(scene, line):
        return False
    return bool(one.heading) or plain.endswith((":", "：")) or (rest <= LEAD_LETTERS and "(" not in plain and "=" not in plain)


def _is_one_of_several(scene: Scene, line: int) -> bool:
    """Tell whether a line is an item with a number, below one on another model: ``- GPT-2 base: 12 heads`` and ``- GPT-2 XL: 25 heads`` lead nothing."""
    text, named = scene.lines[line].text, scene.mentions[line]
    above = scene.mentions.get(line - 1, ())
    others = {m.name for m in above if m.kind == MODEL} - {m.name for m in named}
    return bool(others) and _DIGIT.search(text, named[-1].end) is not None and not scene.lines[line].heading


_DIGIT = pattern(r"\d")


def _of_mention(mention: Mention) -> tuple[tuple[ModelValue, ...], str]:
    models = tuple(model for name in mention.names[:MOST_MEMBERS] if (model := preset_model(name)) is not None)
    return models, mention.name or ""
