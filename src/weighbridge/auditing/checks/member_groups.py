"""Counts with sizes in parentheses that tell a family's members apart: ``the next has 355M (24 layers, 1024 dimensions)`` in a text on GPT-2."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.family_lists import is_closed
from weighbridge.auditing.checks.field_values import main_values
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import widths_of
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize, find_described_sizes
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY, MODEL, table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_GROUP = pattern(
    r"(?P<count>\d[\d,]*(?:\.\d+)?\s?(?:[BM](?![A-Za-z])|million\b|billion\b))(?:\s(?:total\s)?param(?:eter)?s)?,?\s?[(（](?P<sizes>[^()（）]{4,120})[)）]",
    re.IGNORECASE,
)
_LEAST = 2
"""Sizes in the parentheses at least; with the count they are three facts."""
_REACH = 12


class _Facts(NamedTuple):
    """What a group says: its count, and the sizes behind it."""

    figure: Token
    sizes: tuple[DescribedSize, ...]


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check each group; of three facts and more, the one that is not the member's is wrong where all others are one member's only.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    if scene.given:
        return
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if index in tabled or "(" not in text or len(text) > LONGEST or is_of_their_own(scene, index):
            continue
        for found in _GROUP.finditer(text):
            family = _family(scene, index, found.start())
            subject = of_mention(scene, family, firm=False) if family is not None else None
            if subject is not None and not SUPPOSED.search(text, *sentence_of(text, found.start())):
                yield from _judge(scene, _facts(index, text, found), subject.models)


def _family(scene: Scene, index: int, first: int) -> Mention | None:
    """Return the closed family that was named last before a group, or that of a member that another sentence names."""
    start, _ = sentence_of(scene.lines[index].text, first)
    for line in (index, *scene.naming_lines(index, _REACH)):
        named = [m for m in scene.mentions.get(line, ()) if line < index or m.end <= first]
        if named:
            last = named[-1]
            beside = line == index and last.column >= start and last.kind != FAMILY
            return None if beside else last if is_closed(last) else _family_of(last)
    return None


def _family_of(member: Mention) -> Mention | None:
    """Return the closed family of a model, as if it were named."""
    families = (m.names for m in table().values() if m.kind == FAMILY and member.name in m.names)
    found = (member._replace(name=None, names=names, kind=FAMILY) for names in families)
    return next((one for one in found if is_closed(one)), None) if member.kind == MODEL else None


def _facts(index: int, text: str, found: re.Match[str]) -> _Facts:
    count = next(one for one in tokens(found["count"], index) if one.kind == "num")
    sizes = [size for size in find_described_sizes(text) if found.start("sizes") <= size.first and size.last <= found.end("sizes")]
    return _Facts(count._replace(start=found.start("count"), end=found.end("count")), tuple(sizes))


def _judge(scene: Scene, facts: _Facts, models: Sequence[ModelValue]) -> Iterator[Claim]:
    words = {size.word for size in facts.sizes}
    if len(facts.sizes) < _LEAST or len(words) < len(facts.sizes):
        return
    ranked = sorted(((len(_odd(facts, model)), place) for place, model in enumerate(models)))
    odd, best = ranked[0][0], [models[place] for number, place in ranked if number == ranked[0][0]]
    if odd != 1 or len({own_count(model) for model in best}) > 1:
        return
    wrong = _odd(facts, best[0])[0]
    if wrong is None:
        right = own_count(best[0]) or 0
        reason = because(mark("{name} has {right}"), name=best[0].class_name or best[0].source, right=right)
        yield total_claim(scene, facts.figure, "wrong", Exact(right), reason)
        return
    right = main_values(best[0]).get(wrong.word, 0)
    if right and wrong.value > 1:
        token = Token("num", "", facts.figure.line, wrong.start, wrong.end)
        yield field_claim(scene, token, wrong.word, wrong.value, right, "wrong")


def _odd(facts: _Facts, model: ModelValue) -> list[DescribedSize | None]:
    """Return the facts that are not a model's: sizes, and None for the count."""
    odd: list[DescribedSize | None] = [size for size in facts.sizes if size.value not in widths_of(model, size.word)]
    return odd if settle(facts.figure, (model,), whole=True) is not None else [*odd, None]
