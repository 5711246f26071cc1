"""Between which numbers a figure lies: by its digits, its unit, and whether it is said to be rough."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import ROUNDED_FAR
from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import NamedTuple

AMOUNT = pattern(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)(?:\s?(?:[×x*·]\s?10\^?[{(]?|e\+?)(?P<power>\d{1,2})[})]?)?\s?(?P<unit>[KMGTPEZ]|kilo|mega|giga|tera|peta|exa|zetta)?(?P<binary>i)?",
    re.IGNORECASE,
)
_POWERS = {letter: power for power, letter in enumerate("kmgtpez", 1)}


class SaidBounds(NamedTuple):
    """Between which numbers a figure lies in its smallest and in its largest meaning, its number in the first, and the bounds in each."""

    low: Fraction
    high: Fraction
    number: Fraction
    spans: tuple[tuple[Fraction, Fraction], ...]


def read_bounds(text: str, kind: str, clause: str) -> SaidBounds | None:
    """Return between which numbers a figure lies."""
    found, most = [match for match in AMOUNT.finditer(text) if match["number"]], 3 if _ROUGHLY.search(clause) else 1
    if not found:
        return None
    first, last = found[0], found[-1] if kind == "range" else found[0]
    base = _POWERS.get((last["unit"] or "")[:1].lower(), 0)
    small = 1024 if last["binary"] else 1000
    large = small if kind == "work" else 1024
    power = 10 ** int(first["power"]) if first["power"] and len(first["power"]) <= 2 else 1
    low, high = Fraction(first["number"].replace(",", "")) * power, Fraction(last["number"].replace(",", "")) * power
    half = _half(last["number"], most) * power
    if low > high:
        return None
    low, high = (low - half, high + half) if kind != "range" else (low - _half(first["number"], most), high + half)
    middle = Fraction(last["number"].replace(",", "")) * power
    low = max(low, middle / ROUNDED_FAR) if kind != "range" else low
    spans = tuple((low * step**base, high * step**base) for step in dict.fromkeys((small, large)))
    return SaidBounds(low * small**base, high * large**base, middle * small**base, spans)


_ROUGHLY = pattern(r"about|around|roughly|approx|some\b|or so|[~≈∼]|约|大概|左右|上下|多(?=[KMG])", re.IGNORECASE)


def _half(number: str, most: int) -> Fraction:
    """Return half a unit of the last digit that is shown, and is no filling zero; of these, so many at most are one."""
    written = number.replace(",", "")
    whole_part, _, places = written.partition(".")
    if places:
        return Fraction(1, 2 * 10 ** len(places))
    filling = len(whole_part) - len(whole_part.rstrip("0"))
    return Fraction(10 ** min(filling, len(whole_part) - 1, most), 2) if len(whole_part) < _FULL else Fraction(0)


_FULL = 5
"""Digits from which on a whole number is given in full."""


def is_within_digits(text: str, said: Fraction, number: Fraction) -> bool:
    """Tell whether the digits after a figure's point can say no more than it does.

    >>> is_within_digits("0.1 GB", Fraction(10**8), Fraction(66_720_000)), is_within_digits("0.2 GB", Fraction(2 * 10**8), Fraction(66_720_000))
    (True, False)
    """
    found = AMOUNT.match(text)
    if found is None or "." not in found["number"] or not said:
        return False
    step = Fraction(1, 10 ** len(found["number"].partition(".")[2])) * said / Fraction(found["number"].replace(",", ""))
    return abs(number - said) * 2 <= step
