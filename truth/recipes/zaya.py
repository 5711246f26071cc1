"""ZAYA's random configs: kinds of layers, and an even width of the values."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    raw |= {"head_dim": rng.choice((4, 8, 12)), "num_experts_per_tok": 1}
    if "num_hidden_layers" in raw and rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("hybrid", "hybrid_sliding")) for _ in range(raw["num_hidden_layers"])]
        raw.setdefault("sliding_window", 5)
    return raw
