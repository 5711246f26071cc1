"""Long numbers that are a component's or the whole model's but for two digits exchanged, or one that is another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache

from weighbridge.auditing.checks.own_counts import is_whole
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.core.messages import mark

_LEAST = 1_000_000
"""A shorter number is near some component's by chance."""
_RIGHT = ("exact", "convention", "rounded")
_MARGIN = 2
"""One more or less is a scale counted with it, and no slip."""


def check(scene: Scene, held: Mapping[str, ReferenceCounts], judged: Sequence[Claim], slips: Collection[Fraction]) -> Iterator[Claim]:
    """Check every long whole number of a text about a known model: one that is none of its counts, and all but one of them.

    Args:
        judged: The claims so far: what is wrong where it stands first is carried on from there.
        slips: The numbers that are wrong in the text's own arithmetic, or follow from such.
    """
    right = {(one.line, one.end) for one in judged if one.verdict in _RIGHT}
    said = {*slips, *(one.value for one in judged if one.verdict in ("wrong", "carried"))}
    known = cache(lambda context: _numbers(held[context]))
    for statement in scene.numbered:
        for _, token in scene.figures_of(statement):
            if token.kind != "num" or token.unit or token.places or token.value is None or token.value < _LEAST:
                continue
            if (scene.lines[token.line].number, scene.lines[token.line].at[token.end - 1] + 1) in right:
                continue
            context, number = scene.context(token.line, token.start), int(token.value)
            counts = known(context) if context in held else None
            model = scene.model_at(token.line, token.start)
            if not counts or model is None or number in counts or number in said:
                continue
            meant = _mistyped_of(number, counts)
            if meant is not None and f"{meant:,}" in scene.lines[token.line].text:
                continue  # ``... 2,362,468, where 2,362,368 is right``
            if meant is not None and not is_whole(model, number) and not any(number in known(other) for other in held):
                facts = {"value": number, "expected": meant, "difference": number - meant}
                reason = because(mark("should be {right}"), right=meant)
                yield claim(scene.lines, token, token, "component", "wrong", **facts, reason=reason)


def _numbers(own: ReferenceCounts) -> tuple[int, ...]:
    """Return the long counts of a model and of its components, its own first."""
    parts = [h.number for holdings in own.components.values() for h in holdings if h.number.denominator == 1]
    found = (own.reference, *own.classes.values(), *map(int, parts), *(cell.number for cell in own.cells))
    return tuple(dict.fromkeys(number for number in found if number >= _LEAST))


@lru_cache(maxsize=4096)
def _mistyped_of(number: int, counts: tuple[int, ...]) -> int | None:
    """Return the first of some counts that a number is but for a digit."""
    written = str(number)
    near = (count for count in counts if abs(number - count) >= _MARGIN and count // 10 < number < count * 10)
    return next((count for count in near if len(str(count)) == len(written) and is_slip(written, str(count))), None)
