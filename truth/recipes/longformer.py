"""Longformer's random configs: one window for all layers, or one for each."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw even windows, small ones, so that texts fill several."""
    layers = raw.get("num_hidden_layers", 12)
    raw["attention_window"] = rng.choice([2, 4, 8]) if rng.random() < 0.5 else [rng.choice([2, 4, 8]) for _ in range(layers)]
    return raw
