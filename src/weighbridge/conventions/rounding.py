"""Numbers as people write them: ``110M``, ``1.1亿``, ``109,482,240``, and what interval each can stand for."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

DECIMAL = {
    "": 1, "k": 10**3, "thousand": 10**3, "千": 10**3, "万": 10**4, "萬": 10**4, "m": 10**6, "mm": 10**6, "mio": 10**6, "million": 10**6,
    "millions": 10**6, "百万": 10**6, "兆": 10**6, "千万": 10**7, "亿": 10**8, "億": 10**8, "b": 10**9, "bn": 10**9, "g": 10**9,
    "billion": 10**9, "billions": 10**9, "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "t": 10**12, "trillion": 10**12, "万亿": 10**12,
}  # fmt: skip
BINARY = {
    "k": 2**10,
    "kb": 2**10,
    "ki": 2**10,
    "kib": 2**10,
    "m": 2**20,
    "mb": 2**20,
    "mi": 2**20,
    "mib": 2**20,
    "g": 2**30,
    "gb": 2**30,
    "gi": 2**30,
    "gib": 2**30,
    "b": 2**30,
}
_NUMBER = re.compile(
    r"(?:about|approx\.?|approximately|roughly|around|circa|约为|大约|大概|近似|约|[≈~∼≃=])?\s*"
    r"(?P<whole>\d{1,3}(?:[,_' \u2009\u202f]\d{3})+|\d+)(?:\.(?P<decimals>\d+))?(?:e\+?(?P<exponent>\d{1,2}))?\s*(?P<unit>[a-z]{0,9}|[百千万萬亿億十兆]{0,3})"
    r"\s*(?:个参数|个|参数|param(?:eter)?s?)?",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """One thing that a written number can mean: a whole number from *low* to *high*.

    Attributes:
        value: What is written, multiplied out.
        how: ``exact``, ``rounded``, ``truncated``, or ``coarse`` (zeros at the end taken for rounding).
        unit: What a unit letter stands for: 1, 10^6, 2^20 and so on.
        cost: How far-fetched the reading is.
    """

    low: int
    high: int
    value: Fraction
    how: str
    unit: int
    cost: int


def readings(text: str) -> list[Reading]:
    """Return what *text* can mean, the most natural reading first.

    Raises:
        UsageError: It is no number.

    >>> [(r.low, r.high, r.how) for r in readings("110M")][:2]
    [(109500000, 110500000, 'rounded'), (105000000, 115000000, 'coarse')]
    >>> readings("１０２，２６７，６４８")[0].low
    102267648
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    match = _NUMBER.fullmatch(plain)
    unit = match["unit"].lower() if match else ""
    if plain[:1] in ("-", "−") and plain[1:2].isdecimal():
        raise UsageError(Text("{text!r} is negative; expected a count such as 109,482,240 or 110M or 1.1亿", text=text))
    if not match or not (unit in DECIMAL or unit in BINARY) or len(plain) > 60:
        raise UsageError(Text("{text!r} is not a number; expected one such as 109,482,240 or 110M or 1.1亿", text=text))
    digits = re.sub(r"\D", "", match["whole"])
    decimals, exponent = match["decimals"] or "", int(match["exponent"] or 0)
    mantissa = Fraction(int(digits + decimals), 10 ** len(decimals)) * 10**exponent
    step = Fraction(10**exponent, 10 ** len(decimals))
    found = []
    if unit in DECIMAL:
        found += _readings_of(mantissa, step, DECIMAL[unit], 0)
    if unit in BINARY:
        found += _readings_of(mantissa, step, BINARY[unit], 1 if unit in DECIMAL else 0)
    return sorted(found, key=lambda reading: reading.cost)


def _readings_of(mantissa: Fraction, step: Fraction, unit: int, cost: int) -> list[Reading]:
    value, width = mantissa * unit, step * unit
    if width <= 1 and value.denominator == 1:
        found = [Reading(int(value), int(value), value, "exact", unit, cost)]
    else:
        found = [_reading(value - width / 2, value + width / 2, value, "rounded", unit, cost)]
        found.append(_reading(value, value + width, value, "truncated", unit, cost + 2))
    units, zeros = mantissa / step, 0
    while units and zeros < 9 and units % 10 ** (zeros + 1) == 0:
        zeros += 1
    for extra in range(1, zeros + 1):
        wide = width * 10**extra
        if wide * 20 <= value * 2 and (width > 1 or extra >= 3):
            found.append(_reading(value - wide / 2, value + wide / 2, value, "coarse", unit, cost + 1))
    return found


def _reading(low: Fraction, high: Fraction, value: Fraction, how: str, unit: int, cost: int) -> Reading:
    return Reading(-(-low.numerator // low.denominator), high.numerator // high.denominator, value, how, unit, cost)
