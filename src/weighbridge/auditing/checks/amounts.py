"""A figure in bytes, the words about it, and the amounts that it may be."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm

from weighbridge.auditing.byte_thresholds import MEMORY_FAR, MEMORY_TOLERANCE, ROUNDED_FAR, WHOLE_DIGITS
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, value_bounds, whole, write_like
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.core._namedtuple import NamedTuple

PER_TOKEN = pattern(
    r"per[- ]token|each (?:additional )?token|every token|one token|a token|single token|每(?:生成|新增|多|增加)?一?个?(?:新的?)? ?(?:token|词元)|一个 ?(?:token|词元)|单个? ?(?:token|词元)|/ ?token",
    re.IGNORECASE,
)
SENTENCE = 300
"""Characters before a figure that may say what it is of."""
NEAR = 48
"""Characters before a figure, and twice as many as behind it, within which ``per token`` is said of it."""
_FIGURE = pattern(r"\d\s?[KMGT]i?B(?![A-Za-z0-9_])(?:\s?/\s?\w+)?|\d\s?(?:bytes|字节)(?:\s?/\s?\w+)?", re.IGNORECASE)
_ENDS = pattern(r"[;；。]|\.(?!\d)")
_ON = pattern(r"[,，;；。|]|\band\b")


class Amount(NamedTuple):
    """A number of bytes that a figure may be, and a sentence that says why, with what stands in its braces."""

    number: int | Fraction
    sentence: str
    facts: Mapping[str, object]

    @property
    def reason(self) -> Reason:
        """Why it may be so many; made for the one of many that is said."""
        return because(self.sentence, **self.facts)


class Figure(NamedTuple):
    """A figure in bytes with the words about it.

    Attributes:
        scene, token: The text, and the figure.
        sentence: From the beginning of its sentence to a little behind it.
        near: The words nearest to it, from the figure before it on.
        text: All of its line that may say how many tokens it is of.
        far: How many times it must be off to be wrong.
    """

    scene: Scene
    token: Token
    sentence: str
    near: str
    text: str
    far: Fraction = MEMORY_FAR


def words_about(scene: Scene, token: Token) -> tuple[Figure, int]:
    """Return the words about a figure, and where its sentence begins."""
    text = scene.lines[token.line].text
    first = max(0, token.start - SENTENCE)
    start = max((m.end() for m in re.finditer(r"[。;；!?|]|\.(?!\d)", text[first : token.start])), default=0) + first
    since = max(start, after_figure(text, token.start), token.start - NEAR)
    behind = _ON.split(text[token.end : token.end + NEAR // 2])[0]
    tail = text[token.end : token.end + 40]
    same = _ENDS.split(tail)[0]
    return Figure(scene, token, text[start : token.end] + same, text[since : token.end] + behind, text[first : token.end] + same), start


def after_figure(text: str, end: int) -> int:
    """Return where the last figure in bytes before a place ends: what is said before that is said of it."""
    ends = figure_ends(text)
    place = bisect_left(ends, end)
    known = ends[place - 1] if place else 0
    return max((match.end() for match in _FIGURE.finditer(text, known, end)), default=known)


@lru_cache(maxsize=64)
def figure_ends(text: str) -> tuple[int, ...]:
    """Return where the figures in bytes of a line end."""
    return tuple(match.end() for match in _FIGURE.finditer(text))


def hold(place: Figure, amounts: Sequence[Amount], *, firm: bool, base: int = 1024) -> Claim | None:
    """Hold a figure against all that it may be; wrong if it is far from every one of them, and *firm*.

    Args:
        base: What a kilobyte is where the figure's unit leaves it open: weights are sold in thousands, caches come in powers of two.
    """
    token, mine = place.token, likeliest_value(place.token)
    if not amounts or mine is None or token.value is None:
        return None
    said_bytes = [token.value * scale for scale in UNITS[token.unit]]
    nearest = _nearest_amount(said_bytes, amounts)
    slip = nearest is not None and _is_slip_of(token, nearest[1].number)
    if nearest is not None and not slip and (nearest[0] <= MEMORY_TOLERANCE or _is_rounded_bytes(token, Exact(nearest[1].number))):
        return _claim(place, "rounded", nearest[1].number, nearest[1].reason)
    if nearest is not None and slip:
        amounts = [nearest[1]]
    far = firm and all(n > amount.number * place.far or n * place.far < amount.number for amount in amounts for n in said_bytes)
    if slip or (far and not any(is_within_digits(token, Exact(amount.number)) for amount in amounts)):
        right = Exact(amounts[0].number)
        direction = should_be(is_higher=mine > right)
        written = said_bytes[0] if base == BINARY else min(said_bytes)
        reason = because(direction, right=write_bytes(token, right, base), number=write_bytes(token, abs(written - right), base))
        reason += amounts[0].reason
        return _claim(place, "wrong", right, reason)
    return None


BINARY = 1024
_PREFIXES = "KMGT"


def write_bytes(token: Token, number: Fraction, base: int) -> str:
    """Write a number of bytes in the unit of a figure, or in one that shows it better: ``40MB`` where a figure said 8 GB.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> write_bytes(tokens("31.5 GB", 0)[0], Exact(13_476_831_232), 1000)
    '13.48 GB'
    """
    letter, binary = token.unit[:1].upper(), "ib" in token.unit
    if letter not in _PREFIXES or len(token.unit) > len("kib"):
        return write_like(token, number)
    step = BINARY if binary or base == BINARY else 1000
    power = _PREFIXES.index(letter) + 1
    while power > 1 and number * 10 < step**power:
        power -= 1
    amount = number / step**power
    space = " " if token.text[-len(token.unit) - 1 : -len(token.unit)] == " " else ""
    shown = f"{int(amount):,}" if amount.denominator == 1 else f"{float(amount):,.{max(token.places, 2 if amount < 100 else 1)}f}"
    return f"{shown}{space}{_PREFIXES[power - 1]}{'i' if binary else ''}B"


def _nearest_amount(said: Sequence[Fraction], amounts: Sequence[Amount]) -> tuple[Fraction, Amount] | None:
    """Return the first of the amounts that a figure is nearest to, and how far it is from it, as a share of the amount.

    There are dozens of amounts for each figure: they are compared as whole numbers, over the figure's own denominator.
    """
    shared = lcm(*(number.denominator for number in said))
    numbers = [number.numerator * (shared // number.denominator) for number in said]
    far, whole_amount, nearest = 1, 0, None
    for amount in amounts:
        right, each = amount.number.numerator * shared, amount.number.denominator
        if right:
            distance = min([abs(number * each - right) for number in numbers])
            if nearest is None or distance * whole_amount < far * right:
                far, whole_amount, nearest = distance, right, amount
    return (Exact(far, whole_amount), nearest) if nearest is not None else None


def _is_slip_of(token: Token, number: int | Fraction) -> bool:
    """Tell whether a figure gives bytes to the last, and is a number of them but for one digit: ``327,880`` of 327,680."""
    plain = token.unit in _PLAIN_BYTES and not token.places and token.value is not None and Exact(number).denominator == 1
    return plain and significant_digits(token) >= WHOLE_DIGITS and is_slip(str(token.value), str(number))


_PLAIN_BYTES = ("byte", "bytes", "字节")


def _is_rounded_bytes(token: Token, number: Fraction) -> bool:
    """Tell whether a figure is a number of bytes rounded to the digits shown: ``1 MB`` of 819,200."""
    if significant_digits(token) > _FEW_DIGITS:
        return False
    ranges = (
        (low, high)
        for low, high in (value_bounds(token, Exact(scale)) for scale in UNITS[token.unit])
        if low + high <= 2 * number * ROUNDED_FAR
    )
    return any(low < number < high for low, high in ranges)


def is_within_digits(token: Token, number: Fraction) -> bool:
    """Tell whether the digits after a figure's point can say no more than it does: ``0.1 GB`` of 66,720,000 bytes."""
    bounds = (value_bounds(token, Exact(scale)) for scale in UNITS[token.unit]) if token.places else ()
    return any(low <= number <= high for low, high in bounds)


_FEW_DIGITS = 2


def _claim(place: Figure, verdict: str, true: int | Fraction, reason: Reason) -> Claim:
    number = likeliest_value(place.token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(Exact(true)), "difference": whole(number - true), "reason": reason}
    return claim(place.scene.lines, place.token, place.token, "total", verdict, **facts)
