"""Mamba-2's random configs: heads that fill the inner width, groups that divide the heads."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Make heads, groups and hidden size fit together, and place attention."""
    if raw["model_type"] == "mamba2":
        heads, width, expand = rng.choice((2, 4, 6)), rng.choice((3, 4, 6)), rng.randint(1, 3)
        raw |= {"num_heads": heads * expand, "head_dim": width, "hidden_size": heads * width, "expand": expand}
        raw["n_groups"] = rng.choice((1, 2, heads))
        return raw
    heads = rng.choice((1, 2, 4))
    raw |= {"mamba_n_heads": heads, "mamba_n_groups": rng.choice((1, heads)), "hidden_size": 24, "num_attention_heads": 6}
    raw["num_key_value_heads"] = rng.choice((1, 2, 3, 6))
    raw["mamba_expand"] = rng.randint(1, 3)
    raw["attn_layer_indices"] = rng.choice((None, [0], [1, 3], [0, 1, 2]))
    return raw
