"""Random configs of ERNIE's text tower: kinds of layers, and two widths of experts."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists."""
    half = rng.choice((4, 8))
    raw["head_dim"] = 2 * half
    raw["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [half // 2 - 1, half // 2 - 1, 2]}
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["moe_num_shared_experts"] = rng.randint(0, 2)
    if rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if rng.random() < 0.8:
        raw["moe_intermediate_size"] = [rng.randint(3, 40), rng.randint(3, 40)]
    return raw
