"""What a place of running text is about: the one model of its sentence, of those before it, or of the heading."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from weighbridge.auditing.checks.background import is_left_behind
from weighbridge.auditing.checks.field_values import NO_PARTS, field_values, values_of
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.naming_words import is_base, pronoun_subject
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize, find_described_sizes
from weighbridge.auditing.text.memory import once_for_each_scene, once_for_each_text
from weighbridge.auditing.thresholds import AGREED_FIELDS, BESIDE_LINES
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

SENTENCE = pattern(r"[。!?！？]|\.(?!\d)(?=\s|$|[*_`)\"'”])|[;；](?=\s*[A-Z])")
"""Where a sentence ends."""
CLAUSE = pattern(r"[,，、;；:：()（）。]|\.(?!\d)|\b(?:and|with|but|while|whereas|which|has|have|uses?)\b|和|而|但|有(?!效)", re.IGNORECASE)


@once_for_each_text
def sentence_ends(text: str) -> tuple[int, ...]:
    """Return where the sentences of a line end."""
    return tuple(m.end() for m in SENTENCE.finditer(text))


@once_for_each_text
def _ends_outside(text: str, spans: tuple[tuple[int, int], ...]) -> list[int]:
    """Return where the sentences of a line end, but for what looks like an end within a name."""
    return [end for end in sentence_ends(text) if not any(column < end <= stop for column, stop in spans)]


class Topic(NamedTuple):
    """The mention of a model that a place is about, and its line."""

    line: int
    mention: Mention


def topic(scene: Scene, line: int, column: int) -> Topic | None:
    """Return the one model that a place of running text is about: of its sentence, of those before it, or of the heading."""
    text, named = scene.lines[line].text, scene.mentions.get(line, ())
    ends = _ends_outside(text, tuple([(n.column, n.end) for n in named]))
    place = bisect_right(ends, column)
    start, stop = ends[place - 1] if place else 0, ends[place] if place < len(ends) else len(text)
    comment = _COMMENT.search(text, column)
    until = comment.end() if comment is not None else len(text) + 1
    inside = [m for m in named if start <= m.column < stop and m.column < until]
    before = [m for m in inside if m.end <= column]
    if before:
        place = len(before) - (2 if before[-1].kind == FAMILY and len(before) > 1 else 1)  # a family's name behind one of its members
        place -= place > 0 and is_base(text, before[place - 1], before[place])
        last, others = before[place], {m.name for m in before if m.kind != FAMILY}
        if is_left_behind(text, last.column, last.end, column):
            return None
        apart = (
            others == {last.name}
            or place < len(before) - 1
            or (place > 0 and CLAUSE.search(text, before[place - 1].end, last.column) is not None)
        )
        return Topic(line, last) if last.kind == MODEL and apart and not goes_on(text, last.end, column) else None
    earlier = [m for m in named if m.column < start]
    meant = pronoun_subject(text, start, earlier) if earlier and not inside else None
    if meant is not None:
        return Topic(line, meant)
    if inside:
        opens = len({m.name for m in inside}) == 1 and re.match(
            r"\W*(?:with|at|having|thanks to|despite|given|featuring|boasting|有|凭借)\b", text[start:column], re.IGNORECASE
        )
        return Topic(line, inside[0]) if opens and inside[0].kind == MODEL else None
    return _topic_above(scene, line, column, earlier)


def goes_on(text: str, first: int, last: int) -> bool:
    """Tell whether words go on to a model that they do not name; ``Phi-2 is a 2.7B model`` and ``is the largest`` speak of the one at hand."""
    return any(_IS_ONE.search(text, 0, found.start()) is None for found in ANOTHER.finditer(text, first, last))


_IS_ONE = pattern(r"\b(?:is|was) $", re.IGNORECASE)
_COMMENT = pattern(r"(?:^|\s)(?:#|//)\s")
"""Where code ends and a comment on it begins, which names what it likes."""


def _topic_above(scene: Scene, line: int, column: int, earlier: Sequence[Mention]) -> Topic | None:
    """Return the one model that the sentences before, on this line or above in the paragraph, or else the heading, name."""
    text = scene.lines[line].text
    if earlier:
        one = earlier[-1].kind == MODEL and len({m.name for m in earlier if m.kind != FAMILY}) == 1
        return Topic(line, earlier[-1]) if one and not goes_on(text, earlier[-1].end, column) else None
    place = bisect_left(scene.named_lines, line)
    if not place:
        return None
    above = scene.named_lines[place - 1]
    section = scene.headings[line - 1] > above  # a heading that names nothing goes on with the one model of all that stands above it
    models = [m for m in scene.mentions[above] if m.kind != FAMILY]
    one = len({m.name for m in models}) == 1 and models[0].kind == MODEL
    if one and _BROUGHT_IN.search(scene.lines[above].text, 0, models[0].column):
        return None  # ``By comparison, Qwen3-8B has``: what follows is of the model before it, or of this one
    if not one or goes_on(text, 0, column) or (section and not _is_only(scene, models[0], above)):
        return None
    return Topic(above, models[0])


_BROUGHT_IN = pattern(
    r"\b(?:by|in|for) (?:comparison|contrast),?\s(?:the )?[*_`]*$|\b(?:compared (?:to|with)|unlike)\s(?:the )?[*_`]*$", re.IGNORECASE
)


def _is_only(scene: Scene, mention: Mention, line: int) -> bool:
    """Tell whether the lines down to one name this model and no other."""
    return line < _first_line_of_another(scene, mention.name, mention.names)


@once_for_each_scene
def _first_line_of_another(scene: Scene, name: str | None, names: Sequence[str]) -> int:
    """Return the first line that names another model than one, or a family that it is not of; behind the last where none does."""
    own = set(names)
    others = (
        line for line, found in scene.mentions.items() for m in found if (not own <= set(m.names) if m.kind == FAMILY else m.name != name)
    )
    return min(others, default=len(scene.lines))


@lru_cache(maxsize=2048)
def is_composite(model: ModelValue) -> bool:
    """Tell whether a model is made of several models, each with sizes of its own."""
    description = model.description
    return description is not None and (
        any(isinstance(part, dict) for key, part in description.raw.items() if key not in NO_PARTS)
        or any(hasattr(value, "__dict__") for value in vars(description.sizes).values())
    )


def widths_of(model: ModelValue, word: str) -> frozenset[int]:
    """Return all that a size may be in a model; a width may be that of its feed-forward network."""
    return values_of(model, word) | (field_values(model).get("mlp", frozenset()) if word == "hidden" else frozenset())


_ALIKE = (("heads", "kv_heads"), ("experts", "active", "shared"), ("hidden", "mlp", "head_dim"))


def is_size_of(models: Sequence[ModelValue], size: DescribedSize) -> bool:
    """Tell whether a number is a size of one of the models that is called so, or alike: heads of one kind and of the other, widths, experts."""
    words = next((group for group in _ALIKE if size.word in group), (size.word,))
    return any(size.value in values_of(model, word) for model in models for word in words)


def is_described(scene: Scene, about: Topic, models: Sequence[ModelValue], line: int, column: int) -> bool:
    """Tell whether what stands between a model's name and a place of its paragraph is a description of it: two of its sizes and none that is not its own."""
    apart = line - about.line > BESIDE_LINES or any(not scene.lines[index].text.strip() for index in range(about.line, line))
    if apart or any(model.description is None for model in models):
        return False
    kinds = set()
    for index in range(about.line, line + 1):
        first = about.mention.end if index == about.line else 0
        for size in find_described_sizes(scene.lines[index].text):
            if size.first < first or (index == line and size.start >= column):
                continue
            if not is_size_of(models, size):
                return False
            kinds.add(size.word)
    return len(kinds) >= AGREED_FIELDS
