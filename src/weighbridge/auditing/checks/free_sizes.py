"""Sizes that a text may set as it likes: lengths of its inputs above all."""

from __future__ import annotations

from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.sentence_subjects import (
    Sentence,
)
from weighbridge.auditing.text.described_sizes import DescribedSize

_FREE = frozenset(("types", "image"))
"""Sizes that a text sets as it likes."""


def is_free(one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a text may have set a size as it likes: a length too, but for one that nobody sets, a slip of the model's."""
    if size.word != "positions":
        return size.word in _FREE
    round_ = any(not size.value % step for step in _ROUND_LENGTHS) or size.value < _LEAST_LENGTH
    near = any(abs(size.value - value) <= _SPECIAL_TOKENS for model in one.models for value in values_of(model, "positions"))
    return round_ or near


_ROUND_LENGTHS = (50, 64)
_LEAST_LENGTH = 256
_SPECIAL_TOKENS = 8
"""Lengths that people set are multiples of these, or short, or leave room for a few tokens of their own."""
