"""What a printed figure says, and whether it says what it should: exactly, rounded, or in units of 2^20."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.auditing.claims import Reason, because
from weighbridge.auditing.text.exact import Exact, as_exact, whole_number
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import BYTES, UNITS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark


class Fit(NamedTuple):
    """How a figure agrees with an exact number: a verdict, the reason for it, and the number it then means."""

    verdict: str
    reason: Reason = ()
    meant: Fraction | None = None


def scales(token: Token) -> tuple[Fraction, ...]:
    """Return what the figure's unit may multiply it by, the likeliest first."""
    return _SCALES.get(token.unit, _ONE)


_ONE = (whole_number(1),)
_SCALES = {unit: tuple(map(Exact, scales)) for unit, scales in UNITS.items()} | {"%": (Fraction(1, 100),)}


def likeliest_value(token: Token) -> Fraction | None:
    """Return the number as printed, in the likeliest meaning of its unit."""
    if not token.unit or token.value is None:
        return token.value
    scale = scales(token)[0]
    if token.value.denominator == scale.denominator == 1:
        return whole_number(token.value.numerator * scale.numerator)
    return token.value * scale


class _Gap(NamedTuple):
    """How far a figure lies above a number in one meaning of its unit, and what one unit is, as whole numbers over one denominator."""

    scale: Fraction
    size: int
    unit: int


def fit(token: Token, true: int | Fraction, *, loose: bool = False) -> Fit | None:
    """Tell how a printed figure agrees with the *true* number; None if it does not.

    Args:
        token: The figure.
        true: What it should say.
        loose: Whether it is said to be approximate, so that one digit will do.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> fit(tokens("22.7 M", 0)[0], 23_835_648).verdict
    'rounded'
    """
    if token.value is None or _is_far(token, true):
        return None
    gaps = _gaps(token.value, scales(token), true, _last_digit_shown(token))
    for check in (_exact_fit, _fit_by_rounding, _fit_by_zeros, _truncation):
        for gap in gaps:
            found = check(token, true, gap, loose)
            if found is not None:
                return found
    if token.unit in BYTES:
        for size in (4, 2, 8, 1):
            for gap in _gaps(token.value, scales(token), true * size, 1):
                if _exact_fit(token, true * size, gap, loose) or _fit_by_rounding(token, true * size, gap, loose):
                    return Fit("convention", because(mark("{size} bytes for each parameter"), size=size), as_exact(true))
    return None


def _last_digit_shown(token: Token) -> int:
    """Return how many units a figure may be off at most and still agree: none of the checks goes beyond its last digit that is no zero."""
    if token.places or token.value is None or token.value.denominator != 1:
        return 1
    digits = str(token.value.numerator)
    return int(10 ** (len(digits) - len(digits.rstrip("0"))))


def _gaps(value: Fraction, scales: tuple[Fraction, ...], true: int | Fraction, widest: int) -> list[_Gap]:
    """Return how far a figure is from a number in each meaning of its unit in which it is within so many units of it.

    A text of many figures tries each against many numbers, and most are far.
    """
    top, bottom, part = value.numerator * true.denominator, true.numerator * value.denominator, value.denominator * true.denominator
    found = []
    for scale in scales:
        size, unit = top * scale.numerator - bottom * scale.denominator, scale.numerator * part
        if -unit * widest <= size <= unit * widest:
            found.append(_Gap(scale, size, unit))
    return found


def _is_far(token: Token, true: int | Fraction) -> bool:
    """Tell whether a number is out of reach of every rounding; most are, and whole numbers tell it quickly."""
    value = token.value
    if not value:
        return False
    printed, right = value.numerator * true.denominator, true.numerator * value.denominator
    least, most = _REACH.get(token.unit, (_ONE[0], _ONE[0]))
    reach = 32 if token.unit in BYTES else 4
    return printed * most.numerator * 4 < right * most.denominator or right * least.denominator * reach < printed * least.numerator


_REACH = {unit: (min(scales), max(scales)) for unit, scales in _SCALES.items()}


def _exact_fit(token: Token, true: int | Fraction, gap: _Gap, loose: bool) -> Fit | None:
    if gap.size:
        return None
    return Fit("convention", _unit(gap.scale), as_exact(true)) if _is_binary(gap.scale) else Fit("exact", (), as_exact(true))


def _fit_by_rounding(token: Token, true: int | Fraction, gap: _Gap, loose: bool) -> Fit | None:
    if token.value is None or not (token.unit or token.places or true.denominator > 1):
        return None
    if abs(gap.size) * 2 * 10**token.places > gap.unit or not token.value:
        return None
    return Fit("rounded", because(mark("rounded")) + _unit(gap.scale), token.value * gap.scale)


def _fit_by_zeros(token: Token, true: int | Fraction, gap: _Gap, loose: bool) -> Fit | None:
    """Take the zeros at the end as not significant, down to two digits; down to one where it is said to be rough."""
    powered = not token.unit and "e" in token.text.lower()  # ``3.16e16`` shows three digits
    if token.value is None or token.places or token.value.denominator != 1 or not (token.unit or loose or powered):
        return None
    digits = str(int(token.value))
    zeros = len(digits) - len(digits.rstrip("0"))
    least = 1 if loose else 2
    for dropped in range(1, min(zeros, len(digits) - least) + 1):
        if abs(gap.size) * 2 <= gap.unit * 10**dropped:
            kept = len(digits) - dropped
            reason = because(mark("rounded to one digit")) if kept == 1 else because(mark("rounded to {digits} digits"), digits=kept)
            return Fit("rounded", reason + _unit(gap.scale), token.value * gap.scale)
    return None


def _truncation(token: Token, true: int | Fraction, gap: _Gap, loose: bool) -> Fit | None:
    if token.value is None or not (token.unit or token.places):
        return None
    if 0 < -gap.size * 10**token.places < gap.unit:
        return Fit("note", because(mark("truncated, not rounded")), token.value * gap.scale)
    return None


def _is_binary(scale: Fraction) -> bool:
    return scale >= 1024 and scale.numerator & (scale.numerator - 1) == 0


def _unit(scale: Fraction) -> Reason:
    if not _is_binary(scale):
        return ()
    return because(mark("in units of 2^{power}"), power=scale.numerator.bit_length() - 1)


def write_like(token: Token, number: Fraction) -> str:
    """Write a number the way a figure of the text is written: in its unit and to its decimal places.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> write_like(tokens("113.34M", 0)[0], Fraction(113_280_000))
    '113.28M'
    >>> write_like(tokens("45 billion", 0)[0], Fraction(46_702_792_704))  # the space of the text is kept
    '46.70 billion'
    """
    scale = scales(token)[0] if token.unit else Fraction(1)
    digits = token.text.rstrip("%" + _LETTERS)
    unit = token.text[len(digits) :].rstrip() if token.unit else ""
    if token.unit.startswith("×"):  # ``1.1 × 10^8``
        digits = token.text[: len(token.text) - len(token.text.lstrip("0123456789.,"))]
        unit = token.text[len(digits) :]
    unit = f" {unit}" if digits.endswith("-") else unit  # ``671-billion-parameter``
    amount = number / scale
    if amount.denominator == 1:
        return f"{int(amount):,}{unit}"
    places = max(token.places, 0 if abs(amount) >= 1000 and not token.unit else 2 if abs(amount) >= 1 else 4)
    return f"{float(amount):,.{places}f}{unit}"


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ 万亿千百十兆"


def significant_digits(token: Token) -> int:
    """Count the significant digits of a figure; zeros at the end of a whole number may be mere filling.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> [significant_digits(t) for t in tokens("7.08M 110M 0.50", 0)]
    [3, 2, 2]
    """
    if token.value is None:
        return 0
    value = token.value
    written = str(value.numerator * 10**token.places // value.denominator).lstrip("0")
    return len(written if token.places else written.rstrip("0")) or 1


def value_bounds(token: Token, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Return between which numbers the true value of a figure lies: itself, or what rounds to it.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> [int(bound) for bound in value_bounds(tokens("7.08M", 0)[0], Fraction(10**6))]
    [7075000, 7085000]
    """
    assert token.value is not None
    value, top = token.value, scale.numerator
    if not (token.places > 0 or (token.unit and token.unit != "%" and top > scale.denominator)):
        middle = value if top == scale.denominator else value * scale
        return middle, middle
    middle, half = (
        2 * value.numerator * top * 10**token.places,
        value.denominator * top,
    )  # over one denominator: each figure is asked for often
    below = 2 * value.denominator * scale.denominator * 10**token.places
    return Exact(middle - half, below), Exact(middle + half, below)


def whole_bounds(token: Token, scale: Fraction) -> tuple[int, int]:
    """Return the least and the most whole number between the bounds of a figure.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> whole_bounds(tokens("7.08M", 0)[0], Fraction(10**6)), whole_bounds(tokens("0.5", 0)[0], Fraction(1))
    ((7075000, 7085000), (1, 0))
    """
    assert token.value is not None
    value, top = token.value, scale.numerator
    middle, half = 2 * value.numerator * top * 10**token.places, value.denominator * top
    below = 2 * value.denominator * scale.denominator * 10**token.places
    if not (token.places > 0 or (token.unit and token.unit != "%" and top > scale.denominator)):
        half = 0
    return -((half - middle) // below), (middle + half) // below


def whole(number: Fraction | None) -> int | Fraction | None:
    """Return an int where the number is one."""
    return int(number) if number is not None and number.denominator == 1 else number
