"""Random configs of mixtures with gated attention: kinds of layers, which attend in full, and heads layer by layer."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kinds of layers."""
    kind = raw["model_type"]
    if kind == "afmoe":
        raw["num_dense_layers"] = rng.randint(0, 4)
        if rng.random() < 0.5:
            raw["global_attn_every_n_layers"] = rng.randint(1, 4)
        return raw
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw |= {"n_group": 1, "topk_group": 1} if kind == "beam" else {}
    if rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("full_attention", "sliding_attention")) for _ in range(layers)]
    if kind == "laguna":
        raw["num_key_value_heads"] = rng.randint(1, 2)
        raw["num_attention_heads"] = raw["num_key_value_heads"] * rng.randint(1, 3)
        raw["gating"] = rng.choice((True, "per-head", "per-element"))
        if rng.random() < 0.6:
            raw["num_attention_heads_per_layer"] = [raw["num_key_value_heads"] * rng.randint(1, 3) for _ in range(layers)]
    return raw
