"""Random configs of Falcon-H1 and Nemotron-H: heads that fill the inner width, and kinds of layers."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads and layers."""
    if raw["model_type"] == "falcon_h1":
        heads = rng.choice((1, 2, 4))
        raw |= {"mamba_n_heads": heads, "mamba_n_groups": rng.choice((1, heads)), "hidden_size": 24, "mamba_expand": rng.randint(1, 3)}
        raw |= {"num_attention_heads": 6, "num_key_value_heads": rng.choice((1, 2, 3, 6))}
        raw["mamba_d_ssm"] = rng.choice((None, heads * rng.choice((4, 6, 10))))
        return raw
    heads = rng.choice((2, 4, 6))
    raw |= {"mamba_num_heads": heads, "mamba_head_dim": rng.choice((4, 6)), "n_groups": rng.choice((1, 2, heads))}
    raw |= {"n_group": 1, "topk_group": 1, "moe_latent_size": rng.choice((None, 10))}
    kinds = ("linear_attention", "moe", "full_attention", "mlp")
    if rng.random() < 0.5:
        raw["layers_block_type"] = [rng.choice(kinds) for _ in range(rng.randint(1, 6))]
    elif rng.random() < 0.8:
        raw["hybrid_override_pattern"] = "".join(rng.choice("ME*-") for _ in range(rng.randint(1, 6)))
    return raw
