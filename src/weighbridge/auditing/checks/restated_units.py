"""A figure that is said at once again in another unit: ``524,288 bytes, or 0.5 MB``, ``43 GB (40 GiB)``, ``1.56e7 seconds, or 180 days``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import AGAIN_FAR, AGAIN_NEAR
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_NUMBER = r"(?P<{0}>\d(?<![A-Za-z0-9_.,]\d)[\d,]*(?:\.\d+)?)(?:\s?[×x*·]\s?10\s?\^?\s?[{{(]?(?P<{0}power>\d{{1,2}})[}})]?|e\+?(?P<{0}e>\d{{1,2}}))?"
_UNITS = r"(?:[KMGT]i?B|bytes?|字节|seconds?|secs?|hours?|days?|weeks?|years?|秒|小时|天|周|年|parameters?|params|个?参数|million|billion|万|亿|M|B)(?![A-Za-z0-9_/])"
_AGAIN = pattern(
    _NUMBER.format("first")
    + rf"\s?(?P<one>{_UNITS})(?:\s(?:per|for each|for every|a) token|\s?/\s?token)?(?:\s?(?:of )?(?:memory|VRAM|behind|显存))?"
    r"\s?(?:[,，]\s?(?:or|i\.e\.,?|that is,?|which is|about|roughly|around|approximately|即|约|也就是|大约|也即|约合|约等于)|[(（]\s?(?:i\.e\.,?|or|that is,?|即|约)?|[≈=]|,? or|即|约合)\s?(?:(?:about|around|roughly|approximately|some|only|just|a mere|约|大约|约为|为)\s?){0,2}[~≈约]?\s?"
    + _NUMBER.format("again")
    + rf"\s?(?P<other>{_UNITS})(?=(?:\s(?:per|for each|for every|a) token|\s?/\s?token)?\s?(?:[,，.。;；)）]|$|\s(?:in total|altogether)))",
    re.IGNORECASE,
)
_KINDS: dict[str, dict[str, tuple[int, ...]]] = {
    "bytes": {"byte": (1,), "bytes": (1,), "字节": (1,), **{f"{u}b": (1024**p, 1000**p) for p, u in enumerate("kmgt", 1)}, **{f"{u}ib": (1024**p,) for p, u in enumerate("kmgt", 1)}},
    "time": {
        "second": (1,), "seconds": (1,), "sec": (1,), "secs": (1,), "秒": (1,), "hour": (3600,), "hours": (3600,), "小时": (3600,), "day": (86_400,), "days": (86_400,), "天": (86_400,),
        "week": (604_800,), "weeks": (604_800,), "周": (604_800,), "year": (31_536_000, 31_557_600), "years": (31_536_000, 31_557_600), "年": (31_536_000, 31_557_600),
    },
}  # fmt: skip
_FACTOR = pattern(r"[×*·/+^x−-]\s?$")
"""Before a figure, what makes it part of an expression: ``13B × 2 bytes = 26 GB``."""
_LONGEST = 2_000
_MOST_POWER = 40


class _Read(NamedTuple):
    """Between which numbers a figure lies, in the meanings of its unit."""

    bounds: tuple[tuple[Fraction, Fraction], ...]
    likeliest: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the second of two figures, which a comma, a sign or a parenthesis makes the first said again, against it."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST:
            continue
        place = 0
        while (found := _AGAIN.search(text, place)) is not None:
            if not _FACTOR.search(text, 0, found.start()):
                yield from _hold(scene, index, found)
            place = found.start("again")


def _hold(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    one, other = found["one"].lower(), found["other"].lower()
    if re.match(r"\s?[≈=]", found.string[found.end("one") :]) and one not in _KINDS["time"]:
        return  # sides of an equation, or columns of figures
    kind = next((kind for kind, units in _KINDS.items() if one in units and other in units), None)
    if kind is None or (one == other) or _KINDS[kind][one] == _KINDS[kind][other]:
        return
    first, again = _read(found, "first", _KINDS[kind][one]), _read(found, "again", _KINDS[kind][other])
    if first is None or again is None or not first.likeliest or not again.likeliest:
        return
    if kind == "bytes" and (
        first.likeliest < _LEAST or max(first.likeliest, again.likeliest) > _ELSEWHERE * min(first.likeliest, again.likeliest)
    ):
        return  # ``16 bytes for each parameter, about 2.8 TB``
    token = Token("num", found["again"], index, found.start("again"), found.end("other"))
    right = first.likeliest
    facts: dict[str, object] = {"value": whole(again.likeliest), "expected": whole(right), "difference": whole(again.likeliest - right)}
    near = any(
        low <= far_high * AGAIN_NEAR and far_low <= high * AGAIN_NEAR for low, high in again.bounds for far_low, far_high in first.bounds
    )
    if near:
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif all(low > far_high * AGAIN_FAR or high * AGAIN_FAR < far_low for low, high in again.bounds for far_low, far_high in first.bounds):
        scale = _KINDS[kind][other][0]
        places = len(found["again"].partition(".")[2])
        reason = because(mark("should be {right} {unit}"), right=f"{float(right / scale):,.{max(places, 1)}f}", unit=found["other"])
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)


def _read(found: re.Match[str], group: str, scales: tuple[int, ...]) -> _Read | None:
    written = found[group].replace(",", "")
    power = found[f"{group}power"] or found[f"{group}e"] or "0"
    if int(power) > _MOST_POWER:
        return None
    places = len(written.partition(".")[2])
    filling = 0 if places or len(written) > _FULL else len(written) - len(written.rstrip("0"))
    half = Fraction(10 ** min(filling, max(0, len(written) - 1)), 2 * 10**places) if places or len(written) <= _FULL else Fraction(0)
    number, times = Fraction(written), 10 ** int(power)
    return _Read(tuple(((number - half) * times * scale, (number + half) * times * scale) for scale in scales), number * times * scales[0])


_LEAST, _ELSEWHERE = 1_000, 1_100
"""Bytes below which a figure is a parameter's or a number's, and how many times another is something else."""
_FULL = 4
"""Digits beyond which a whole number is given in full."""
