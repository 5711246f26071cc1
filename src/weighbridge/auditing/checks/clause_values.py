"""What a model has under the word by which a Chinese clause calls a size, and whether a number is that."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_OF_CONFIG = {
    "kv_lora": "kv_lora",
    "q_lora": "q_lora",
    "rope_dim": "rope_dim",
    "expert_mlp": "expert_mlp",
    "dense_mlp": "mlp",
    "shared": "shared_experts",
}
"""Sizes that only some models have, by the name that the description gives them."""
FIELDS = {"dense_mlp": "mlp", "side_layers": "layers"}
"""And by what they are called in general."""


def values_said(token: Token) -> list[Fraction]:
    """Return what a number with its unit may say."""
    assert token.value is not None
    return [token.value * power for power in UNITS.get(token.unit, (1,))] if token.unit else [token.value]


def is_own(word: str, value: int, own: Collection[int], token: Token) -> bool:
    """Tell whether a value is one of a model's, or its rounding: words of a vocabulary may be a few fewer than its rows."""
    if value in own or (word == "vocab" and any(is_fair_vocabulary(value, rows) for rows in own)):
        return True
    if not token.unit:
        return False
    step = min(Fraction(UNITS.get(token.unit, (1,))[0]), Fraction(value)) / 10**token.places
    return any(abs(rows - value) <= step for rows in own)


def is_free(word: str, value: int, own: Collection[int]) -> bool:
    """Tell whether a length is one that people set as they like."""
    if word != "positions":
        return word == "types"
    return value % 50 == 0 or value % 64 == 0 or not any(is_slip(str(value), str(right)) for right in own)


def own_values(model: ModelValue, word: str) -> Collection[int]:
    """Return all that a model has under a word."""
    if word == "side_layers":
        sizes = vars(model.description.sizes) if model.description is not None else {}
        return [sizes[key] for key in ("layers", "decoder_layers") if type(sizes.get(key)) is int]
    if word in _OF_CONFIG:
        value = main_value(model, word)
        return () if value is None else (value, *(values_of(model, "mlp") if word == "expert_mlp" else ()))
    return values_of(model, word)


def main_value(model: ModelValue, word: str) -> int | None:
    """Return what a model has under a word first of all, or None."""
    if word in _OF_CONFIG and model.description is not None:
        value = vars(model.description.sizes).get(_OF_CONFIG[word])
        return value if type(value) is int else None
    own = main_values(model).get(FIELDS.get(word, word))
    return own if own is not None else next(iter(found)) if len(found := values_of(model, word)) == 1 else None
