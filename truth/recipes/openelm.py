"""Random configs of OpenELM: heads and the MLP's width, layer by layer."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one entry a layer: key heads, query heads that they divide, and a multiple of the width."""
    layers = rng.randint(1, 4)
    key_heads = [rng.randint(1, 3) for _ in range(layers)]
    return raw | {
        "num_transformer_layers": layers,
        "num_kv_heads": key_heads,
        "num_query_heads": [number * rng.randint(1, 3) for number in key_heads],
        "ffn_multipliers": [rng.choice((0.5, 1.43, 4.0)) for _ in range(layers)],
        "ffn_dim_divisor": rng.choice((8, 16)),
    }
