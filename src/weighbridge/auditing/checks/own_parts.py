"""Counts that a text gives the parts of a model that it describes itself, and that no preset is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.labelled_counts import LEAST_COUNT, Said, labelled_counts
from weighbridge.auditing.checks.own_models import OwnModels, own_models
from weighbridge.auditing.checks.own_readings import OwnSizes, any_of, readings, whole_counts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, scales, significant_digits, whole, whole_bounds
from weighbridge.auditing.thresholds import OWN_AGREED, OWN_SLIPS
from weighbridge.core.messages import mark

_ALL = ("attention", "qkv", "map", "ffn", "layer", "stack", "word", "position", "embeddings", "norm", "head")


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the counts of a text that describes its model: right in some reading of the sizes, or wrong in all, where others are right.

    Args:
        claims: What others have judged.
    """
    own = own_models(scene)
    if own is None:
        return
    sizes = [one for model in own.models for one in own.readable(model)]
    covered = ClaimSpans(claims)
    said = [
        one
        for one in islice(labelled_counts(scene), _MOST_COUNTS)
        if not covered.holds(scene.lines[one.line].number, *_columns(scene, one.token))
    ]
    plain = [_fits(one, sizes) for one in said]
    fair = [_fits(one, sizes, binary=True) for one in said]
    binary = sum(found is None and other is not None for found, other in zip(plain, fair, strict=True)) >= _BINARY and not any(plain)
    fair = fair if binary else plain
    agreed = sum(found is not None for found in fair) + sum(_agrees(claim_, sizes) for claim_ in claims)
    figures = [number for one in said if (number := likeliest_value(one.token)) is not None]
    yield from (_claim(scene, one, found, right=True) for one, found in zip(said, fair, strict=True) if found is not None)
    doubted = [one for one, found in zip(said, fair, strict=True) if found is None and agreed and not _follows(one, figures)]
    slips = [(one, slip) for one in doubted if (slip := _slip(one, sizes, own)) is not None and not _is_broken_down(scene, one, claims)]
    if len(slips) <= OWN_SLIPS or len(slips) * OWN_AGREED <= agreed:
        yield from (_claim(scene, one, slip, right=False) for one, slip in slips)


_MOST_COUNTS = 4000
"""Counts of a text that are held against the readings; no description is followed by more."""


def _columns(scene: Scene, token: Token) -> tuple[int, int]:
    """Return where a token stands in its line as it was written."""
    places = scene.lines[token.line].at
    return (places[token.start], places[token.end - 1] + 1) if token.end <= len(places) and places else (token.start, token.end)


_BINARY = 2
"""Figures that a text gives in units of 2^20 at least, and none in millions, before all of its are."""


def _bounds(token: Token, *, widened: int | None = None, binary: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the bounds of what a figure may be in each meaning of its unit; *widened* by some units of its last digit, of which a digit that was cut off is one half."""
    for scale in scales(token) if binary else scales(token)[:1]:
        low, high = whole_bounds(token, scale)
        unit = int(scale / 10**token.places) if token.unit else 0
        if widened is None:
            yield low, high
        else:
            yield low - unit * widened, high + max(unit // 2, unit * widened)


def _fits(one: Said, sizes: Sequence[OwnSizes], *, binary: bool = False) -> int | None:
    """Return the count that a figure agrees with, of the parts that its words name."""
    return _count_that_fits(one, sizes, one.parts, binary=binary)


def _count_that_fits(
    one: Said, sizes: Sequence[OwnSizes], parts: Collection[str], *, widened: int | None = None, binary: bool = False
) -> int | None:
    for own in sizes:
        for low, high in _bounds(one.token, widened=widened, binary=binary):
            found = any_of(readings(own), parts, low, high, one.times)
            if found is None and "total" in parts:
                found = whole_counts(own, low, high)
            if found is not None:
                return found
    return None


def _follows(one: Said, figures: Sequence[Fraction]) -> bool:
    """Tell whether a rounded figure is the sum of two or three others as they are shown, or so many times one of them: it is off as they are."""
    if not one.token.unit:
        return False
    low, high = next(_bounds(one.token, widened=0, binary=False))
    others = [number for number in figures if number < low][:_MOST_FIGURES]
    sums = (sum(some) for many in (2, 3) for some in combinations(others, many))
    return any(low <= number * times <= high for number in others for times in one.times) or any(low <= total <= high for total in sums)


_MOST_FIGURES = 16


def _is_broken_down(scene: Scene, one: Said, claims: Sequence[Claim]) -> bool:
    """Tell whether a count is the sum of two or three that are right and stand below it, as those of a section's parts do."""
    number, line = likeliest_value(one.token), scene.lines[one.line].number
    below = [c.expected for c in claims if c.verdict == "exact" and 0 < c.line - line <= _BREAKDOWN and type(c.expected) is int]
    parts = [part for part in dict.fromkeys(below) if number is not None and part < number][:_MOST_PARTS]
    return any(sum(some) == number for many in (2, 3) for some in combinations(parts, many))


_BREAKDOWN, _MOST_PARTS = 120, 32
"""Lines below a count, and figures there, among which its parts are looked for."""


def _slip(one: Said, sizes: Sequence[OwnSizes], own: OwnModels) -> int | None:
    """Return what a figure that no reading gives should be, if it is one digit from that, and nothing is left open."""
    shown = significant_digits(one.token)
    rough = shown < _DIGITS
    if (rough and (shown < _ROUGH or not one.token.places)) or (not set(one.parts) <= _TABLES and _is_open(own, sizes)):
        return None
    many = tuple(sorted({*one.times, *(size.layers for size in sizes if size.layers)}))
    if _count_that_fits(one._replace(times=many), sizes, (*_ALL, "total"), widened=int(rough)) is not None:
        return None
    written = re.sub(r"\D", "", one.token.text).lstrip("0")
    counts = {count * times for size in sizes for part in one.parts for count in _nominal(size, part) for times in one.times}
    return min((count for count in counts if is_slip(written, _write(one.token, count))), default=None)


_TABLES = {"word", "position", "embeddings"}


def _is_open(own: OwnModels, sizes: Sequence[OwnSizes]) -> bool:
    """Tell whether the layers may hold something that the sizes do not say."""
    return own.odd or (own.grouped and not all(size.kv_heads for size in sizes))


_DIGITS, _ROUGH = 3, 2
"""Digits of a figure that is held against every reading; and those of one that is so only where it is off by more than one unit of its last digit."""


def _write(token: Token, count: int) -> str:
    """Write a count to the digits that a figure has, without its point and unit."""
    return str(round(Fraction(count) / scales(token)[0] * 10**token.places))


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _nominal(size: OwnSizes, part: str) -> Iterator[int]:
    """Yield the readings of a part; of the whole, those that people have in mind."""
    parts = readings(size)
    if part != "total":
        yield from parts.get(part, ())
        return
    words = size.vocab * size.hidden
    for tail in (words, 2 * words, words + size.positions * size.hidden, 2 * words + size.positions * size.hidden) if words else ():
        yield from (stack + tail for stack in parts.get("stack", ()))


def _agrees(one: Claim, sizes: Sequence[OwnSizes]) -> bool:
    """Tell whether a claim that others have judged is a count of such a model."""
    if one.verdict not in ("exact", "rounded", "convention") or not isinstance(one.expected, (int, Fraction)) or one.expected < LEAST_COUNT:
        return False
    count = int(one.expected)
    return any(any_of(readings(size), _ALL, count, count, (1, size.layers or 1)) is not None for size in sizes)


def _claim(scene: Scene, one: Said, count: int, *, right: bool) -> Claim:
    number = likeliest_value(one.token)
    assert number is not None
    part = next((part for part in one.parts if part in _TITLES), "")
    facts: dict[str, object] = {"value": whole(number), "expected": count, "difference": whole(number - count)}
    exact = number == count
    reason = because(mark("the sizes that the text states give it"))
    if not right:
        reason = because(
            mark("with the sizes that the text states, {what} holds {right}"), what=Sentence(_TITLES.get(part, _WHOLE)), right=count
        )
    return claim(
        scene.lines,
        one.token,
        one.token,
        "component" if part else "total",
        "wrong" if not right else "exact" if exact else "rounded",
        **facts,
        reason=reason,
    )


_WHOLE = mark("the whole model")
_TITLES = {**COMPONENT_TITLES, "stack": COMPONENT_TITLES["encoder"]}
