"""Random configs of NeoMME: heads of a width that rotates in quarters, and kinds of layers."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    kv_heads, layers = rng.randint(1, 3), rng.randint(1, 8)
    raw |= {"num_key_value_heads": kv_heads, "num_attention_heads": kv_heads * rng.randint(1, 3), "head_dim": 16 * rng.randint(1, 2)}
    raw |= {"num_hidden_layers": layers, "patch_size": rng.randint(1, 6)}
    for key in ("layer_types", "per_layer_config", "rope_parameters"):
        raw.pop(key, None)
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("full_attention", "sliding_attention")) for _ in range(layers - 1)] + ["full_attention"]
    return raw
