"""LFM2's random configs: lists of layer kinds, or indices of attention, and widths that are rounded up."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Place attention by either list, and scale the MLP."""
    if raw["model_type"] == "lfm3":
        layers = raw["num_hidden_layers"] = rng.randint(1, 6)
        if rng.random() < 0.5:
            raw["layer_types"] = [rng.choice(("conv", "full_attention", "sliding_attention")) for _ in range(layers)]
        return raw
    if raw["model_type"] == "lfm2_moe":
        layers = raw["num_hidden_layers"] = rng.randint(1, 6)
        raw["layer_types"] = [rng.choice(("conv", "full_attention")) for _ in range(layers)]
        raw["num_dense_layers"] = rng.randint(0, 4)
        raw["num_experts_per_tok"] = rng.randint(1, 3)
        return raw
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("conv", "full_attention")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["full_attn_idxs"] = [index for index in range(layers) if rng.random() < 0.5]
    raw["block_ffn_dim_multiplier"] = rng.choice((1.0, 1.0, 2.0))
    return raw
