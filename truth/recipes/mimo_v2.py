"""MiMo's random configs: kinds of layers, and heads that twice the key-value heads divide."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers, kv_heads = rng.randint(1, 5), rng.randint(1, 3)
    raw |= {"num_hidden_layers": layers, "num_key_value_heads": kv_heads, "num_attention_heads": 2 * kv_heads * rng.randint(1, 3)}
    raw |= {"head_dim": rng.choice((8, 12, 16)), "v_head_dim": rng.choice((4, 6, 10))}
    if rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if rng.random() < 0.6:
        raw["layer_types"] = [rng.choice(("full_attention", "sliding_attention")) for _ in range(layers)]
    return raw
