"""Lengths as they are written: ``8192``, ``32,768 tokens``, ``128K``, ``8.192K``, ``1M``."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.auditing.patterns import pattern

_LENGTH = pattern(r"[~≈约]?\s*(?P<number>\d[\d,]{0,9}(?:\.\d{1,3})?)\s?(?P<unit>[kKmM])?(?: ?(?:tokens?|个? ?token|词元))?")
_TIMES = {"k": (1024, 1000), "m": (1024 * 1024, 1000 * 1000)}


def lengths_of(number: Fraction, unit: str) -> tuple[int, ...]:
    """Return the whole lengths that a number with its unit may be; the likelier first.

    >>> lengths_of(Fraction(128), "K"), lengths_of(Fraction("8.192"), "k"), lengths_of(Fraction(512), "")
    ((131072, 128000), (8192,), (512,))
    """
    found = [number * times for times in _TIMES.get(unit.lower(), (1,))]
    return tuple(int(one) for one in found if one.denominator == 1)


def read_length(text: str) -> tuple[tuple[int, ...], int, int] | None:
    """Return what a stretch of text that is a length and nothing else amounts to, and where its number stands.

    >>> read_length("32,768 tokens"), read_length("8 heads")
    (((32768,), 0, 6), None)
    """
    match = _LENGTH.fullmatch(text.strip())
    if match is None:
        return None
    shift = len(text) - len(text.lstrip())
    end = match.end("unit") if match["unit"] else match.end("number")
    return lengths_of(Fraction(match["number"].replace(",", "")), match["unit"] or ""), match.start("number") + shift, end + shift
