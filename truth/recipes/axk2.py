"""A.X K2's random configs: kinds of layers, and even rotary widths."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["qk_rope_head_dim"] = rng.choice((2, 4, 8))
    raw["index_head_dim"] = raw["qk_rope_head_dim"] + rng.choice((2, 5, 8))
    raw["num_experts_per_tok"] = rng.randint(1, 3)
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    else:
        raw |= {"first_k_dense_replace": rng.randint(0, 3), "moe_layer_freq": rng.randint(1, 3)}
    return raw
