"""Random configs of Cohere's mixtures: kinds of layers, shared experts, and either norm."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
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
