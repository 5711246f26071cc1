"""Products and quotients of numbers with powers of ten, ``4.2e23 / (1024 × 140e12)``: what they come to."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing.patterns import pattern

NUMBER = r"(?:10\s?\^\s?[{(]?\d{1,2}[})]?|\d[\d,]*(?:\.\d+)?(?:e\+?\d{1,2}|\s?[×x*·]\s?10\s?\^\s?[{(]?\d{1,2}[})]?)?(?:\s?%)?)(?![\d.])"
"""A number that may have a power of ten: ``1.56e7``, ``3.15 × 10^23``."""
_ONE = pattern(rf"\s*(?P<number>{NUMBER})|\s*(?P<sign>[×x*·/÷()])", re.IGNORECASE)
_PARTS = pattern(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)(?:e\+?(?P<e>\d{1,2})|\s?[×x*·]\s?10\s?\^\s?[{(]?(?P<power>\d{1,2})[})]?)?(?P<share>\s?%)?",
    re.IGNORECASE,
)
_ALONE = pattern(r"^10\s?\^")
_MOST_POWER = 40


def read_powered(text: str) -> Fraction | None:
    """Return a number with its power of ten.

    >>> [int(read_powered(text)) for text in ("1.56e7", "3.15×10^23")]
    [15600000, 315000000000000000000000]
    """
    found = _PARTS.fullmatch(_ALONE.sub("1×10^", text.strip()))
    if found is None:
        return None
    power = int(found["e"] or found["power"] or 0)
    if power > _MOST_POWER:
        return None
    number = Fraction(found["number"].replace(",", "")) * Fraction(10) ** power
    return number / 100 if found["share"] else number


def half_unit(text: str) -> Fraction:
    """Return half a unit of the last digit of a number with a power of ten; zeros at the end of a whole number may be filling.

    >>> half_unit("1.56e7"), half_unit("75,000")
    (Fraction(50000, 1), Fraction(500, 1))
    """
    found = _PARTS.match(text.strip())
    if found is None:
        return Fraction(0)
    written, power = found["number"].replace(",", ""), int(found["e"] or found["power"] or 0)
    places = len(written.partition(".")[2])
    filling = 0 if places else min(len(written) - len(written.rstrip("0")), len(written) - 1)
    return Fraction(10 ** (filling + min(power, _MOST_POWER)), 2 * 10**places)


def evaluate(text: str) -> Fraction | None:
    """Return what a product or quotient comes to, or None if it is not read whole.

    >>> float(evaluate("4.2e23 / (1024 × 140e12)"))
    2929687.5
    """
    pieces: list[str] = []
    place = 0
    while place < len(text.rstrip()):
        found = _ONE.match(text, place)
        if found is None:
            return None
        pieces.append(found["number"] or found["sign"])
        place = found.end()
    value, rest = _product(pieces, 0)
    return value if rest == len(pieces) else None


def _product(pieces: list[str], at: int) -> tuple[Fraction | None, int]:
    value, at = _factor(pieces, at)
    while value is not None and at < len(pieces) and pieces[at] in "×x*·/÷":
        sign = pieces[at]
        other, at = _factor(pieces, at + 1)
        if other is None or (sign in "/÷" and not other):
            return None, at
        value = value / other if sign in "/÷" else value * other
    return value, at


def _factor(pieces: list[str], at: int) -> tuple[Fraction | None, int]:
    if at >= len(pieces):
        return None, at
    if pieces[at] != "(":
        return read_powered(pieces[at]), at + 1
    end = _closing(pieces, at)
    if end is None:
        return None, at
    inner, rest = _product(pieces[at + 1 : end], 0)
    return (inner if rest == end - at - 1 else None), end + 1


def _closing(pieces: list[str], at: int) -> int | None:
    """Return where parentheses close that hold no others: people write no deeper ones here."""
    for place in range(at + 1, len(pieces)):
        if pieces[place] in "()":
            return place if pieces[place] == ")" else None
    return None
