"""Random configs of Cohere's language models: kinds of layers, shared experts, either norm, positions by kind of layer."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    if raw["model_type"] == "cohere_compass_text":
        return raw | {"rope_parameters": compass_positions(rng)}
    if raw["model_type"] != "cohere2_moe":
        return raw
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["first_k_dense_replace"] = rng.randint(0, layers)
    raw["num_shared_experts"] = rng.randint(0, 2)
    if rng.random() < 0.5:
        raw["rms_norm_eps"] = 1e-5
    return raw


def compass_positions(rng: random.Random) -> dict[str, Any]:
    """Draw rotary positions for each kind of layer: those with a window may be the only ones to have them.

    >>> sorted(compass_positions(random.Random(0)))
    ['full_attention', 'sliding_attention']
    """
    rotary = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}
    return {"full_attention": rng.choice((rotary, None)), "sliding_attention": rotary}
