"""DeBERTa's random configs: which products with positions there are is a list or a text."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kinds of relative attention, and some of the values that mean none."""
    kinds = rng.sample(["c2p", "p2c"], rng.randint(0, 2))
    if rng.random() < 0.7:
        raw["pos_att_type"] = kinds if rng.random() < 0.5 or not kinds else "|".join(kinds)
    if rng.random() < 0.3:
        raw["type_vocab_size"] = 0
    if rng.random() < 0.5:
        raw["max_relative_positions"] = -1
    if rng.random() < 0.7:
        raw.pop("pooler_hidden_size", None)
    return raw
