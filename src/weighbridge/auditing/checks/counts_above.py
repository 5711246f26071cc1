"""Bytes that are right for a count said just above them: they are of that, and not of the model that the text is about."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import MEMORY_TOLERANCE
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import BYTES, COUNTING, UNITS
from weighbridge.auditing.text.tokens import tokens

_ABOVE = 4
"""Lines above a figure within which what it is of may have been counted."""
_LEAST = 10_000
"""A smaller number is no count of parameters."""
_WIDTHS = (Fraction(4), Fraction(2), Fraction(1), Fraction(1, 2))


def is_of_a_count_above(scene: Scene, index: int, claim: Claim) -> bool:
    """Tell whether a figure in bytes is that of a count above which is not the model's: an embedding table's, a student's.

    A student of ``7B params × 2 bytes`` has gradients of ``14 GB``, whatever the teacher has that the text names.
    """
    figure = next((token for token in tokens(claim.text, 0) if token.unit in BYTES and token.value), None)
    if figure is None or figure.value is None:
        return False
    text = scene.lines[index].text
    widths = dtype_sizes(text) or dtype_sizes(scene.lines[index - 1].text if index else "") or _WIDTHS
    said = [figure.value * scale for scale in UNITS[figure.unit]]
    model = scene.model_at(index, claim.start)
    own = own_count(model) if model is not None else None
    right = Fraction(claim.expected or 0)
    for above in range(index, max(-1, index - 1 - _ABOVE), -1):
        for count in _counts(scene, above):
            if own is not None and abs(count - own) <= own * _SAME:
                continue
            if any(abs(right - count * width) * _BASE < right for width in _WIDTHS):
                continue
            if any(abs(one - count * width) <= MEMORY_TOLERANCE * count * width for width in widths for one in said):
                return True
    return False


_BASE = 50
"""How near what a figure should be is to a count in a dtype that it is held against that count already, as a share."""
_SAME = Fraction(3, 20)
"""How near a count is to the model's that is the model's: ``7B`` of 6.74 billion."""


def _counts(scene: Scene, index: int) -> Iterator[Fraction]:
    """Yield the counts of a line: numbers with a unit of counting, and long ones without."""
    named = scene.mentions.get(index, ())
    for token in tokens(scene.lines[index].text, index):
        if token.kind == "num" and token.value and not _is_in_a_name(token, named):
            if token.unit in COUNTING:
                yield token.value * UNITS[token.unit][0]
            elif not token.unit and not token.places and token.value >= _LEAST:
                yield token.value


def _is_in_a_name(token: Token, named: object) -> bool:
    return any(m.column <= token.start < m.end for m in named)  # type: ignore[attr-defined]
