"""What an audit finds: claims with their verdicts, and the summary of a whole text."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import Say, mark

if TYPE_CHECKING:
    from typing import TypeAlias

KINDS = ("arithmetic", "symbolic", "component", "configuration", "total", "share")
VERDICTS = ("exact", "convention", "rounded", "wrong", "carried", "note", "unsettled")
"""``exact``; right in another ``convention``, which the reason names; fairly ``rounded``; ``wrong``; right in itself
but ``carried`` on from an earlier slip; a ``note``, worth knowing and no fault; ``unsettled``: seen and not judged."""


class Sentence(NamedTuple):
    """A sentence in English with what stands in its braces, so that it can be said in any language."""

    sentence: str
    values: tuple[tuple[str, object], ...] = ()


Reason: TypeAlias = tuple[Sentence, ...]
"""Sentences that together give the reason of a verdict."""


def because(sentence: str, **values: object) -> Reason:
    """Make a reason of one sentence.

    >>> say_reason(because("{right} is right", right=1000), str)
    '1,000 is right'
    """
    return (Sentence(sentence, tuple(values.items())),)


def should_be(*, is_higher: bool) -> str:
    """Return the sentence that says what a number should be, and by how much it is off: its values are *right* and *number*.

    >>> because(should_be(is_higher=True), right=12, number=4)[0].sentence
    'should be {right} ({number} too high)'
    """
    return mark("should be {right} ({number} too high)") if is_higher else mark("should be {right} ({number} too low)")


def say_reason(reason: Reason, say: Say) -> str:
    """Say a reason in a language."""
    return say("; ").join(say(part.sentence).format(**{key: _say_value(value, say) for key, value in part.values}) for part in reason)


def _say_value(value: object, say: Say) -> str:
    if isinstance(value, Sentence):
        return say_reason((value,), say)
    if isinstance(value, tuple):
        return say(", ").join(_say_value(item, say) for item in value)
    return format_number(value)


def format_number(number: object) -> str:
    """Write a number for a sentence: thousands separated, a fraction in decimals, one beyond all counts as a power of ten.

    >>> format_number(Fraction(7, 2)), format_number(Fraction(2_362_368)), format_number(90_420_000_000_000_000_000)
    ('3.5', '2,362,368', '9.042 × 10^19')
    """
    if isinstance(number, Fraction) and number.denominator > 1:
        return f"{float(number):,.2f}".rstrip("0").rstrip(".") if abs(number) >= 1 else f"{float(number):.4g}"
    if not isinstance(number, (int, Fraction)):
        return str(number)
    whole = abs(int(number))
    digits = str(whole).rstrip("0")
    if whole >= _IN_POWERS and len(digits) <= _MOST_OF_POWERS:
        power = len(str(whole)) - 1
        return f"{'-' * (number < 0)}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]} × 10^{power}"
    return f"{int(number):,}"


_IN_POWERS = 10**18
_MOST_OF_POWERS = 10
"""From which size on a number of few digits is written as its author would: ``9.042 × 10^19``."""


class Claim(NamedTuple):
    """One numeric claim of a text.

    Attributes:
        line: Its line in the file, from 1.
        start, end: Its columns in that line, from 0.
        text: The words of the text.
        kind: One of :data:`KINDS`.
        verdict: One of :data:`VERDICTS`.
        value: What the text says: a number, or a formula as text.
        expected: What it should be, if something is to be said about that.
        difference: *value* minus *expected*.
        reason: Why, as sentences to be said with :func:`say_reason`.
    """

    line: int
    start: int
    end: int
    text: str
    kind: str
    verdict: str
    value: int | Fraction | str | None = None
    expected: int | Fraction | str | None = None
    difference: int | Fraction | str | None = None
    reason: Reason = ()


class OmittedCount(NamedTuple):
    """What a way of counting leaves out, and how much that is (negative: what it counts beyond the model)."""

    what: Sentence
    count: int  # type: ignore[assignment]


class Line(NamedTuple):
    """One line of a text, as written and as it is read.

    Attributes:
        number: Its number in the file, from 1.
        raw: As written; of a page, what it shows of that line of its file.
        text: With typesetting undone: one sign for each operation, no TeX, no doubled formulas.
        at: For each character of *text*, its column in *raw*.
        heading: Its level if it is a heading, else 0.
    """

    number: int
    raw: str
    text: str
    at: tuple[int, ...]
    heading: int = 0


class Subject(NamedTuple):
    """A model that a text names.

    Attributes:
        name: What it was taken for: a preset, a family, or the empty string if it is not known.
        text: The name as written, where it stands first.
        line: The line of that.
        kind: ``model``, ``family`` or ``unknown``.
        times: How often it is named.
    """

    name: str
    text: str
    line: int
    kind: str
    times: int


class Audit(NamedTuple):
    """The outcome of an audit.

    Attributes:
        claims: In the order of the text.
        model: The model that the claims are held against, in words, or the empty string.
        assumed: Why that model, if it was not given.
        corrected: The total by the text's own method with its errors corrected, if it states one.
        reference: The model's own count of the class in *model*.
        left_out: What that method leaves out, down to the last parameter.
        lines: The text itself.
        subjects: The models that it names, and how each was recognized.
    """

    claims: tuple[Claim, ...]
    model: str
    assumed: Reason
    corrected: int | None
    reference: int | None
    left_out: tuple[OmittedCount, ...]
    lines: tuple[Line, ...]
    subjects: tuple[Subject, ...] = ()

    @property
    def judged(self) -> tuple[Claim, ...]:
        """The claims that have a verdict."""
        return tuple(claim for claim in self.claims if claim.verdict != "unsettled")

    @property
    def wrong(self) -> tuple[Claim, ...]:
        """The slips, each once."""
        return tuple(claim for claim in self.claims if claim.verdict == "wrong")

    @property
    def summary(self) -> dict[str, int]:
        """How many claims there are of each verdict; how many numeric claims were seen, and how many of them judged."""
        verdicts = {v: sum(c.verdict == v for c in self.claims) for v in VERDICTS}
        judged = len(self.claims) - verdicts["unsettled"]
        return {"claims": judged, "seen": len(self.claims), "judged": judged, **verdicts}
