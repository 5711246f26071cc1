"""Zamba's random configs: kinds of layers, heads that fill the inner width, and keys for every query head."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads and layers."""
    heads, layers = rng.choice((1, 2, 3)), rng.randint(4, 7)
    raw |= {"num_hidden_layers": layers, "n_mamba_heads": heads, "mamba_expand": rng.randint(1, 3)}
    raw |= {"hidden_size": 6 * rng.choice((2, 4, 8)), "num_attention_heads": rng.choice((2, 4))}
    raw["num_key_value_heads"] = rng.choice((1, raw["num_attention_heads"]))
    raw.pop("attention_head_dim", None)
    raw.pop("attention_hidden_size", None)
    if rng.random() < 0.6:
        raw["layers_block_type"] = [rng.choice(("mamba", "hybrid", "linear_attention")) for _ in range(layers)]
    else:
        raw |= {"attn_layer_period": rng.randint(1, 4), "attn_layer_offset": rng.randint(0, 3)}
    return raw
