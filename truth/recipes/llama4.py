"""Random configs of Llama 4: which layers have experts."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a period, or a list."""
    layers = raw.get("num_hidden_layers", 48)
    if rng.random() < 0.5:
        raw["interleave_moe_layer_step"] = rng.randint(1, 3)
    elif rng.random() < 0.5:
        raw["moe_layers"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    return raw
