"""What a figure may be, and the model that it is of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import READ_FAR
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.quantities import Subject
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Possible(NamedTuple):
    """What a figure may be.

    Attributes:
        numbers: All that it may be, the likeliest first.
        settled: Whether it can be nothing else.
        below, above: How many times it may be under, or over, the nearest of them before it is wrong.
        nominal: Whether the model is only called by its count.
        listed: Whether it is settled where others of its passage are exactly that.
    """

    numbers: Sequence[Fraction]
    settled: bool
    below: Fraction
    above: Fraction
    nominal: bool = False
    listed: bool = False


class Part(NamedTuple):
    """A figure that a sum may be of, as it is said and as it should be."""

    said: Fraction
    right: Fraction


NOTHING = Possible((), False, READ_FAR, READ_FAR)


def models_of(scene: Scene, subject: Subject | None) -> tuple[ModelValue, ...]:
    """Return the models that a name of a line means, or none."""
    if subject is None or subject.name < 0:
        return ()
    mention = scene.mentions[subject.line][subject.name]
    found = of_mention(scene, mention, firm=True) if mention.kind == MODEL else None
    return found.models if found is not None else ()


def counts_of(scene: Scene, subject: Subject | None) -> list[Fraction]:
    """Return the parameters of the model that a figure is of: those that it has, and those that it is called by."""
    if subject is None:
        return []
    if subject.parameters is not None:
        return [subject.parameters]
    mention = scene.mentions[subject.line][subject.name]
    own = [Fraction(count) for model in models_of(scene, subject) if (count := own_count(model))]
    called = [Fraction(m[1]) * 10**9 for m in _CALLED.finditer(scene.lines[subject.line].text[mention.column : mention.end])]
    return [*own, *(count for count in called[-1:] if own and abs(count - own[0]) * _NEAR < own[0])]


_CALLED = pattern(r"(?<![\d.x×])(\d+(?:\.\d+)?)\s?[bB](?![A-Za-z])")
_NEAR = 4
