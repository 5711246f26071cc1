"""A size that is not its model's but for one digit, in a text or a section that says enough else of that model, and all of it right.

``agreed_sentences`` asks two sizes of the same sentence, or three of the section. Here the number tells as well: it is the model's own but for one digit, and the
size of no other model that the text names; then right figures anywhere in the text, if it is about that model alone, or in the section are enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere, of_mention
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.free_sizes import is_free
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import is_clean
from weighbridge.auditing.checks.sentence_subjects import (
    WIDTHS,
    Sentence,
    only_model,
    sentence_bounds,
    sizes_of_line,
    subject_of_sentence,
)
from weighbridge.auditing.checks.sister_models import sisters
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import is_size_of, topic
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_RIGHT = frozenset(("exact", "rounded", "convention", "note"))
_MOST_SISTERS = 60


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes that no other check has settled.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What has been judged.
    """
    if not scene.has_models or len(sisters(scene)) > _MOST_SISTERS:
        return
    covered = ClaimSpans([one for one in claims if one.verdict != "unsettled"])
    facts = _RightFigures(scene, claims)
    rows = {line for table in scene.tables for line in table.lines}
    odd: list[tuple[Claim, int]] = []
    for index in scene.counted_lines:
        line = scene.lines[index]
        if index in tabled or index in rows or len(line.text) > LONGEST:
            continue
        sizes = sizes_of_line(scene, index)
        for size in sizes:
            place = line.at[size.start] if size.start < len(line.at) else 0
            if covered.holds(line.number, place, place + 1):
                continue
            for found, agreed in _judge(scene, index, size, sizes, facts):
                if found.verdict == "wrong":
                    odd.append((found, agreed))
                else:
                    yield found
    yield from (one for one, agreed in odd if len(odd) <= max(1, agreed // _ODD_SHARE))


_ODD_SHARE = 3
"""Right figures for each size of a text that is not its model's: with fewer it may be about another."""


class _RightFigures:
    """The sizes and counts of a text that are right: which of a model's stand in a section is found once for all of its lines."""

    def __init__(self, scene: Scene, claims: Sequence[Claim]) -> None:
        self._scene = scene
        self._kept: dict[tuple[int | None, ModelValue], dict[tuple[str, object], int]] = {}
        self._sections: dict[int | None, list[tuple[int, Claim]]] = {}
        index_of = {line.number: index for index, line in enumerate(scene.lines)}
        for one in claims:
            if one.verdict in _RIGHT and one.kind in ("configuration", "total") and one.line in index_of:
                line = index_of[one.line]
                section = scene.headings[line] if scene.headings else -1
                for place in (None, section):
                    self._sections.setdefault(place, []).append((line, one))

    def first_lines(self, section: int | None, model: ModelValue) -> Mapping[tuple[str, object], int]:
        """Return the figures of a section that are a model's, by kind and value, each with the line where it stands first; of the whole text, without one."""
        if (section, model) not in self._kept:
            own = {value for word in main_values(model) for value in values_of(model, word)}
            counts = {count for what in ("total", "active") if (count := own_count(model, what)) is not None}
            found: dict[tuple[str, object], int] = {}
            for line, one in self._sections.get(section, ()):
                value: object = one.value if one.kind == "configuration" else one.expected
                if value in (own if one.kind == "configuration" else counts):
                    found[one.kind, value] = min(line, found.get((one.kind, value), line))
            self._kept[section, model] = found
        return self._kept[section, model]


def _judge(
    scene: Scene, index: int, size: DescribedSize, sizes: Sequence[DescribedSize], facts: _RightFigures
) -> Iterator[tuple[Claim, int]]:
    one = _sentence_of(scene, index, size, sizes)
    if one is None or not one.models:
        return
    right = _right_value(one.models[0], size)
    token = Token("num", "", index, size.start, size.end)
    if any(size.value in values_of(model, size.word) for model in one.models):
        yield field_claim(scene, token, size.word, size.value, size.value, "exact"), 0
        return
    if (
        right is None
        or is_size_of(sisters(scene), size)
        or is_free(one, size)
        or (size.word == "vocab" and is_fair_vocabulary(size.value, right))
    ):
        return
    agreed = _agreement(scene, one, right, facts)
    clean = len(one.others()) == 1 and agreed >= AGREED_FIELDS and is_clean(scene, one, size, right, counted=True)
    if clean and _is_said_plainly(scene.lines[index].text, one, size):
        yield field_claim(scene, token, size.word, size.value, right, "wrong"), agreed


def _sentence_of(scene: Scene, index: int, size: DescribedSize, sizes: Sequence[DescribedSize]) -> Sentence | None:
    """Return the sentence of a size with the one model that it is about, or None."""
    start, stop = sentence_bounds(scene, index, size.start)
    mention, named = subject_of_sentence(scene, index, start, stop, size.first)
    only = only_model(scene)
    about = topic(scene, index, size.first) if mention is None else None
    if about is not None and about.line == index and about.mention.kind == MODEL and start <= about.mention.column:
        mention, named = about.mention, True  # ``RoBERTa-large adopts the same 24 layers as BERT-large``
    if mention is None and only is not None and not any(start <= m.column < stop for m in scene.mentions.get(index, ())):
        mention = Mention(0, only, 0, (only,), MODEL)
    if mention is None or not mention.name:
        return None
    if not named and goes_on_elsewhere(scene.lines[index].text, scene.mentions.get(index, ()), size.first, size.last):
        return None
    subject = of_mention(scene, mention, firm=True)
    models = tuple(m for m in subject.models if m.description is not None) if subject is not None and subject.firm else ()
    inside = tuple(one for one in sizes if start <= one.first and one.last <= stop)
    return Sentence(index, start, stop, inside, mention.name, models, mention.end if named else None) if models else None


_FEW = 10
_HAS = pattern(
    r"\b(?:has|have|uses?|utili[sz]es?|employs?|features?|contains?|with|of|from|between|among|across)\s(?:\w+\s)?$|(?:有|用|含|共|设置?|配备|中的?)\s?$",
    re.IGNORECASE,
)
"""A number of one digit is another's but for that digit whatever it is: what must stand before it."""


def _is_said_plainly(text: str, one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a number of one digit is said to be what the model has."""
    return size.value >= _FEW or _HAS.search(text, one.start, size.start) is not None


def _right_value(model: ModelValue, size: DescribedSize) -> int | None:
    """Return the one size of a model that a number is but for a digit; of a kind that it has one of."""
    words = WIDTHS if size.word in WIDTHS else (size.word,)
    own = main_values(model)
    written = str(size.value)
    values = {value for word in words for value in values_of(model, word) if word == size.word or value == own.get(word)}
    if size.word == "vocab" and size.value % _THOUSAND == 0:
        values = {way for value in values for way in (value // _THOUSAND * _THOUSAND, round(value, -3))}  # ``128,000`` of 128,256
    meant = {value for value in values if len(str(value)) == len(written) and is_slip(written, str(value))}
    if size.word == "vocab" and meant:
        return own.get("vocab")
    return meant.pop() if len(meant) == 1 and size.value > 1 else None


def _agreement(scene: Scene, one: Sentence, right: int, facts: _RightFigures) -> int:
    """Return how many other figures of the text, if it is about this model alone, or of the section are this model's."""
    alone = only_model(scene) == one.name
    section = None if alone else scene.headings[one.line] if scene.headings else -1
    figures = facts.first_lines(section, one.models[0])
    found = {figure for figure, line in figures.items() if alone or line <= one.line + _LINES}
    return len(found - {("configuration", right)})


_LINES = 30
_THOUSAND = 1000
