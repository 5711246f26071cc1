"""OLMo Hybrid's random configs: kinds of layers, and value heads that are a multiple of the key heads."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    if rng.random() < 0.6:
        raw["layer_types"] = [rng.choice(("linear_attention", "full_attention")) for _ in range(layers)]
    if rng.random() < 0.6:
        keys = rng.randint(1, 3)
        raw |= {"linear_num_key_heads": keys, "linear_num_value_heads": keys * rng.randint(1, 3)}
    else:
        raw.pop("linear_num_key_heads", None)
        raw.pop("linear_num_value_heads", None)
    return raw
