"""Random configs of Granite's mixtures: kinds of layers, none or some experts, and heads that fill the inner width."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    if raw["model_type"] != "granitemoehybrid":
        return raw
    heads, layers = rng.choice((1, 2, 4)), rng.randint(1, 5)
    raw |= {"num_hidden_layers": layers, "mamba_n_heads": heads, "mamba_n_groups": rng.choice((1, heads)), "hidden_size": 24}
    raw |= {"num_attention_heads": 6, "num_key_value_heads": rng.choice((1, 2, 3, 6)), "mamba_expand": rng.randint(1, 3)}
    if rng.random() < 0.4:
        raw["num_local_experts"] = 0
    if rng.random() < 0.8:
        kinds = rng.choice((("linear_attention", "full_attention"), ("mamba", "attention")))
        raw["layer_types"] = [rng.choice(kinds) for _ in range(layers)]
    return raw
