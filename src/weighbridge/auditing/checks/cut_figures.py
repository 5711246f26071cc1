"""Figures that were cut off or rounded up instead of rounded, and those that are said to be approximate and are near."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.own_counts import list_named_counts
from weighbridge.auditing.claims import Reason, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import scales, significant_digits
from weighbridge.auditing.thresholds import CUT_FAR, HEDGED, PUBLISHED_FAR, ROUGH_FAR
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Judgement(NamedTuple):
    """How a figure is true: its verdict, the exact number it stands for, and why."""

    verdict: str
    expected: Fraction
    reason: Reason


def cut_or_rounded_up(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """Cut off or rounded up instead of rounded; said to be approximate and near."""
    if token.value is None or not (token.unit or token.places or hedged):
        return
    shown = [_measure(token, scale) for scale in scales(token)]
    named, rough = list_named_counts(model, what), significant_digits(token) == 1
    for index, (name, count) in enumerate(named):
        for one in shown:
            if index and rough and abs(count - named[0][1]) * ROUGH_FAR.denominator > ROUGH_FAR.numerator * named[0][1]:
                continue  # one digit is near some class's by chance
            below = count * one.part - one.number  # how far the count lies above what is said, over the one denominator
            apart = abs(below)
            if not hedged and apart > one.reach:
                continue  # most are far
            near = below >= 0 or index == 0  # another class is not rounded up
            near = near and not (rough and apart * ROUGH_FAR.denominator > ROUGH_FAR.numerator * count * one.part)
            if near and apart * 10**token.places < one.unit and (token.unit or token.places):
                reason = because(mark("truncated, not rounded")) if below > 0 else because(mark("rounded up"))
                yield Judgement("note", Fraction(count), reason + because(mark("{name} has {right}"), name=name, right=count))
            if (
                index == 0
                and one.of_tens
                and 0 <= below < 10 * one.unit
                and below * CUT_FAR.denominator <= CUT_FAR.numerator * count * one.part
            ):
                reason = because(mark("truncated, not rounded")) + because(mark("{name} has {right}"), name=name, right=count)
                yield Judgement("note", Fraction(count), reason)
            if one.digit and apart * 2 <= one.digit and apart * PUBLISHED_FAR.denominator <= PUBLISHED_FAR.numerator * count * one.part:
                yield Judgement(
                    "note",
                    Fraction(count),
                    because(mark("rounded to one digit")) + because(mark("{name} has {right}"), name=name, right=count),
                )
            if hedged and apart * HEDGED.denominator <= HEDGED.numerator * count * one.part:
                yield Judgement("note", Fraction(count), because(mark("close enough for a figure that is said to be approximate")))


class _Shown(NamedTuple):
    """What a figure says in one meaning of its unit, as whole numbers over one denominator, since it is held against many counts.

    Attributes:
        number, part: What is said, and the denominator.
        unit: One unit.
        reach: How far a count may be off to be tried.
        of_tens: Whether it is a multiple of ten units and of no hundred.
        digit: One of its first digit where it shows no other, else 0.
    """

    number: int
    part: int
    unit: int
    reach: int
    of_tens: bool
    digit: int


def _measure(token: Token, scale: Fraction) -> _Shown:
    assert token.value is not None
    part = token.value.denominator * scale.denominator
    number, unit = token.value.numerator * scale.numerator, token.value.denominator * scale.numerator
    digit = 10 ** (len(str(number // part)) - 1) * part
    of_tens = bool(token.unit) and not token.places and number % (10 * unit) == 0 and number % (100 * unit) != 0
    return _Shown(number, part, unit, max(10 * unit, number, part), of_tens, digit if number % digit == 0 else 0)
