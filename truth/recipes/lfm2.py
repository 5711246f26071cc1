"""LFM2's random configs: lists of layer kinds, or indices of attention, and widths that are rounded up."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Place attention by either list, and scale the MLP."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("conv", "full_attention")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["full_attn_idxs"] = [index for index in range(layers) if rng.random() < 0.5]
    raw["block_ffn_dim_multiplier"] = rng.choice((1.0, 1.0, 2.0))
    return raw
