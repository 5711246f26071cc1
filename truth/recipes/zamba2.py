"""Zamba2's random configs: kinds of layers, blocks that take turns, adapters, and keys for every query head."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads, layers and blocks."""
    heads, layers = rng.choice((1, 2, 4)), rng.randint(1, 7)
    raw |= {"num_hidden_layers": layers, "n_mamba_heads": heads, "mamba_ngroups": rng.choice((1, heads)), "mamba_expand": rng.randint(1, 3)}
    raw |= {"hidden_size": 8 * rng.choice((2, 4, 6)), "num_attention_heads": rng.choice((2, 4))}
    raw["num_key_value_heads"] = raw["num_attention_heads"]
    raw["layers_block_type"] = [rng.choice(("mamba", "hybrid", "hybrid")) for _ in range(layers)]
    raw.pop("attention_head_dim", None)
    raw.pop("attention_hidden_size", None)
    raw["num_mem_blocks"] = rng.randint(1, 3)
    return raw
