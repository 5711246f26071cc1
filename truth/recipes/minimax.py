"""MiniMax's random configs: kinds of layers, and blocks shorter than the text."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    raw["block_size"] = rng.choice((3, 5, 8, 40))
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    if rng.random() < 0.6:
        raw["layer_types"] = [rng.choice(("linear_attention", "full_attention")) for _ in range(layers)]
    return raw
