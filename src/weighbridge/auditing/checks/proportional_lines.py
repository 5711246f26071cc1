"""Lines that give the bytes of one thing at several lengths: ``4096 tokens -> 0.5 GiB`` and so on; one that is not in proportion to the others is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_LINE = pattern(
    r"(?P<before>[^\d|]{0,24})(?P<length>\d[\d,]*)\s?(?P<thousands>K(?![A-Za-z]))?(?P<after>\s?(?:个\s?)?(?:tokens?|词元|上下文|context|并发|条|序列|sequences?)?)"
    r"\s*(?:->|→|=>|⇒|[:：])\s*(?:约为?|大约|about|[≈~])?\s?(?P<bytes>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>[KMGT])(?P<binary>i)?B\s*[,，。;；]?\s*",
    re.IGNORECASE,
)
"""A length and the bytes at it, and nothing else on the line."""
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4}
_LEAST = 3
"""Lines that agree, with the one that does not."""
_FAR = Fraction(1, 50)
"""How far beyond its rounding a figure must be out of proportion."""


class _Row(NamedTuple):
    """A line's length, the bounds of its bytes as written, and where these stand."""

    line: int
    length: int
    low: Fraction
    high: Fraction
    token: Token
    words: tuple[str, str, str]


def check(scene: Scene) -> Iterator[Claim]:
    """Check every run of such lines that have the same words and units."""
    run: list[_Row] = []
    for index in [*scene.counted_lines, -1]:
        row = _read(scene, index) if index >= 0 else None
        if row is None or not run or row.line != run[-1].line + 1 or row.words != run[-1].words:
            yield from _judge(scene, run)
            run = []
        run += [row] if row is not None else []


def _read(scene: Scene, index: int) -> _Row | None:
    found = _LINE.fullmatch(scene.lines[index].text)
    length = int(found["length"].replace(",", "")) if found is not None else 0
    if found is None or not length:
        return None
    written = found["bytes"].replace(",", "")
    half = Fraction(1, 2 * 10 ** len(written.partition(".")[2]))
    scale = Fraction(1024 ** _POWER[found["unit"].lower()])  # of 1,000 or of 1,024, where all have one unit is no matter
    token = Token("num", found["bytes"], index, found.start("bytes"), found.end("unit") + len(found["binary"] or "") + 1, Exact(written))
    words = (found["before"].strip(" -*•"), found["after"].strip().lower(), f"{found['thousands'] or ''}{found['binary'] or ''}")
    return _Row(index, length, (Fraction(written) - half) * scale, (Fraction(written) + half) * scale, token, words)


def _judge(scene: Scene, run: Sequence[_Row]) -> Iterator[Claim]:
    """Find the ratio that all lines share, or all but one."""
    if len(run) < _LEAST or len({row.length for row in run}) < len(run):
        return
    for odd in (None, *run):
        kept = [row for row in run if row is not odd]
        low, high = max(row.low / row.length for row in kept), min(row.high / row.length for row in kept)
        if low > high:
            continue
        if odd is None or len(kept) + 1 < _LEAST:
            for row in kept:
                yield _claim(scene, row, "exact", row.token.value or Exact(0))
            return
        if not any(_agree([one for one in run if one is not row]) for row in kept) and _is_slip(odd, kept, (low + high) / 2):
            yield from (_claim(scene, row, "exact", row.token.value or Exact(0)) for row in kept)
            yield _claim(scene, odd, "wrong", _right(odd, (low + high) / 2))
        return


def _right(row: _Row, ratio: Fraction) -> Fraction:
    """Return what a line should say, to the digits that it shows."""
    places = len(row.token.text.partition(".")[2])
    scale = (row.high + row.low) / 2 / (row.token.value or 1)
    return Fraction(round(ratio * row.length / scale * 10**places), 10**places)


def _is_slip(odd: _Row, kept: Sequence[_Row], ratio: Fraction) -> bool:
    """Tell whether one digit makes the difference, and not what stops growing: a window, all that the memory holds."""
    places = len(odd.token.text.partition(".")[2])
    written, right = (str(int((value or Fraction(0)) * 10**places)) for value in (odd.token.value, _right(odd, ratio)))
    far = odd.high * (1 + _FAR) < ratio * odd.length or odd.low > ratio * odd.length * (1 + _FAR)
    return far and is_slip(written, right) and odd.token.value not in [row.token.value for row in kept]


def _agree(rows: Sequence[_Row]) -> bool:
    return max(row.low / row.length for row in rows) <= min(row.high / row.length for row in rows)


def _claim(scene: Scene, row: _Row, verdict: str, right: Fraction) -> Claim:
    value = row.token.value or Exact(0)
    high, low = (
        mark("should be {right}, as the other figures say ({number} too high)"),
        mark("should be {right}, as the other figures say ({number} too low)"),
    )
    reason = () if verdict == "exact" else because(high if value > right else low, right=float(right), number=float(abs(value - right)))
    facts: dict[str, object] = {"value": whole(value), "expected": whole(right), "difference": whole(value - right), "reason": reason}
    return claim(scene.lines, row.token, row.token, "arithmetic", verdict, **facts)
