"""Numbers as tokens: separators, decimals, powers of ten, and the units behind them."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact, whole_number
from weighbridge.auditing.text.size_words import POSSIBLE, UNITS, size_at
from weighbridge.core._namedtuple import NamedTuple


class Token(NamedTuple):
    """One piece of a line.

    Attributes:
        kind: ``num``, ``name`` (of a size), ``op``, ``(``, ``)``, ``rel`` (an equals sign), ``shape``, ``sep`` or ``word``.
        text: As read; for a name our word or the letter, for an operation its sign, for ``rel`` ``=`` or ``≈``.
        line: Index of its line.
        start, end: Its columns in the text as read.
        value: Of a number, without its unit.
        unit: Of a number, a key of ``UNITS`` or ``%``, or the empty string.
        places: Of a number, the digits after the decimal point.
        spaced: Whether a space stands before it.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int
    value: Fraction | None = None
    unit: str = ""
    places: int = 0
    spaced: bool = False

    def __hash__(self) -> int:
        """Hash its place: its value would take longer than all else."""
        return hash((self.line, self.start, self.end))


NUMBER = pattern(
    r"\d{1,3}(?:,\d{3})+(?!\d|,\d(?!\d?\s?[^\W\d]))(?:\.\d{1,20}(?!\d))?"
    r"|\d{1,3}(?:_\d{3})+(?![\d_])|\d{1,3}(?:'\d{3})+(?!\d)|\d{1,3}(?: \d{3}){2,}(?! ?\d)|\d{1,3}(?:\.\d{3}){2,}(?![\d.])"
    r"|\d{1,60}(?!\d)(?:\.\d{1,20}(?![\d]))?"
)


_SPACED = pattern(r"\d{1,3}(?: , \d{3})+(?!\d|\.\d)")
"""A number as a page's mathematics pastes it, with spaces about its commas; only after a sign, else it is a list."""


_PARTED = pattern(r"\d{1,3} \d{3}(?![\dA-Za-z%]|[.,]\d| ?\d| ?[×x*·+/=^-])")
"""A number whose thousands stand apart by one space, as many languages write it: the result of a product or a sum, else it is two."""


_POWER = pattern(r"[eE]([+-]?\d{1,2})(?![A-Za-z0-9_.])")


_PER = pattern(r"\s*(?:/|per|each|每个?)\s*(?:param(?:eter)?s?|element|value|weight|token|number|参数)\b", re.IGNORECASE)


_OPERANDS = 3
"""Tokens that an operation and an equals sign behind it are at least."""
WORD = pattern(r"[A-Za-z][A-Za-z0-9_]*")


def read_number(text: str, at: int, line: int, found: list[Token]) -> Token:
    """Read the number that begins at a place, with its unit."""
    spaced = _SPACED.match(text, at) if found and found[-1].kind in ("rel", "op") else None
    computed = len(found) > _OPERANDS and found[-1].kind == "rel" and found[-3].kind == "op"
    match = spaced or (_PARTED.match(text, at) if computed else None) or NUMBER.match(text, at)
    if match is None:
        end = at
        while end < len(text) and text[end].isdigit():
            end += 1
        return Token("word", text[at:end], line, at, end)
    end = match.end()
    power = _POWER.match(text, end) if text[end : end + 1] in ("e", "E") else None
    value, places = _amount(match.group(), power)
    end = power.end() if power else end
    token = Token("num", text[at:end], line, at, end, value, "", places)
    if text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit():
        while end < len(text) and (text[end].isdigit() or text[end] == "."):
            end += 1
        return Token("word", text[at:end], line, at, end)
    return _with_unit(text, token)


@lru_cache(maxsize=1 << 14)
def value_and_decimals(written: str) -> tuple[Fraction, int]:
    """Return the value of a number, written with its unit if it has one, and how many digits stand after its point.

    >>> value_and_decimals("12.5M")
    (Fraction(25, 2), 1)
    """
    digits = _DIGITS.match(written)
    assert digits is not None
    return _decimal(digits.group())


_DIGITS = pattern(r"[\d,._' ]*\d")
"""The digits of a number with all that stands between them: its unit has none."""


def _amount(written: str, power: re.Match[str] | None) -> tuple[Fraction, int]:
    """Return the value of a number as written, times its power of ten, and how many digits stand after the point."""
    value, places = _decimal(written)
    if power is None:
        return value, places
    return value * Fraction(10) ** int(power.group(1)), max(0, places - int(power.group(1)))


def _decimal(written: str) -> tuple[Fraction, int]:
    if written.isdecimal():
        return _whole(int(written)), 0
    digits = written.replace(",", "")
    if not digits.isdecimal():
        digits = digits.translate(_SEPARATORS)
        if written.count(".") > 1:
            digits = digits.replace(".", "")
    if digits.isdecimal():
        return _whole(int(digits)), 0
    places = len(digits.partition(".")[2])
    return Exact(digits) if places else _whole(int(digits.rstrip("."))), places


_SEPARATORS = str.maketrans("", "", "_' ")


_whole = lru_cache(maxsize=4096)(whole_number)
"""A whole number as a fraction: the same few sizes stand in every formula of a text."""


_ENDS_COUNT = pattern(r"\s*$|\s{7}|\stokens|\s?token\s|[。、]|个?参数|总参", re.IGNORECASE)
"""Behind ``1T``, what says that it is a count and no product of a letter."""


def _is_of_tokens(text: str, start: int, end: int) -> bool:
    """Tell whether a number with a T is the last factor of work, behind billions of parameters: ``6 × 70B × 15T ≈``."""
    return _EQUALS.match(text, end) is not None and _BILLIONS.search(text, max(0, start - 12), start) is not None


_EQUALS = pattern(r"\s?[=≈]")
_BILLIONS = pattern(r"\dB\s?[×*x·]\s?$")


@lru_cache(maxsize=256)
def _is_variable(text: str, letter: str) -> bool:
    """Tell whether a letter is an unknown of a line, ``9b + 7 = 9(b + 7) - 56`` or ``4t^2 + 2t = 101``, and no unit of its numbers."""
    return (
        re.search(rf"(?<![\w'’]){letter}(?![\w'’.):]|-[A-Za-z])|\d{letter}\s?(?:\^|[+-]\s?\d+(?![\d.,]|\s?[A-Za-z%*×]))", text) is not None
    )


_HYPHENED = pattern(r"-(billion|million|trillion)(?=[- ]param)", re.IGNORECASE)
"""The unit of a count that stands before its noun: ``a 671-billion-parameter model``."""


_GAP = 4
"""Characters within which a unit begins: ``16 \\, \\text{GB}`` has three spaces once its typesetting is gone."""


_TIMES_TEN = pattern(
    r"\s?[×x*·]\s?10\s?\^\s?[({]?(?P<power>[5-9]|1[0-3])[)}]?(?!\s?[\d.^×x*·/])(?=\s*(?:(?:trainable|learnable|total|model)\s)?(?:param|weights\b)|\s*个?参数|\s*[|]|\s*$)"
)
"""A power of ten as the unit of a count of parameters, or of a cell: ``1.1 × 10^8 parameters``."""


def _with_unit(text: str, token: Token) -> Token:
    end = token.end
    power = _TIMES_TEN.match(text, end) if text[end : end + 2].strip()[:1] in tuple("×x*·") else None
    if power is not None:
        return token._replace(unit=f"×10^{power['power']}", end=power.end(), text=text[token.start : power.end()])
    gap = end + len(text[end : end + _GAP]) - len(text[end : end + _GAP].lstrip(" "))
    following = text[gap : gap + 1]
    hyphened = _HYPHENED.match(text, end) if following == "-" else None
    if hyphened is not None:
        return token._replace(unit=hyphened[1].lower(), end=hyphened.end(), text=text[token.start : hyphened.end()])
    if following.isascii() and not following.isalpha() and following != "%":
        return token  # a sign, a bracket, or the end
    if text[gap : gap + 1] in ("%",):
        return token._replace(unit="%", end=gap + 1, text=text[token.start : gap + 1])
    for length in (2, 1):
        if text[gap : gap + length] in UNITS and not text[gap].isascii() and len(text[gap : gap + length]) == length:
            return token._replace(unit=text[gap : gap + length], end=gap + length, text=text[token.start : gap + length])
    word = WORD.match(text, gap)
    if word is None:
        return token
    letters, after = word.group(), word.end()
    if len(letters) == 1 and letters.islower() and gap == end and "=" in text and _is_variable(text, letters):
        return token if letters in POSSIBLE else Token("word", text[token.start : after], token.line, token.start, after)
    if letters == "T" and gap == end and (token.places or _ENDS_COUNT.match(text, after) or _is_of_tokens(text, token.start, after)):
        return token._replace(unit="t", end=after, text=text[token.start : after])
    if letters.lower() in ("bytes", "byte") and (per := _PER.match(text, after)) is not None:
        return token._replace(unit="bytes", end=per.end(), text=text[token.start : after])
    if letters.lower() in UNITS and (gap > end or letters not in POSSIBLE) and (len(letters) > 1 or gap == end or letters in "KMBG"):
        return token._replace(unit=letters.lower(), end=after, text=text[token.start : after])
    if gap > end or letters[0] in "xX" or all(letter in POSSIBLE for letter in letters.rstrip("0123456789")):
        return token
    if size_at(text, gap):
        return token
    return Token("word", text[token.start : after], token.line, token.start, after)
