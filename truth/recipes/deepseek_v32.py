"""Random configs of indexed latent attention: kinds of layers, indexers that are shared, and even rotary widths."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["qk_rope_head_dim"] = rng.choice((2, 4, 8))
    raw["index_head_dim"] = raw["qk_rope_head_dim"] + rng.choice((2, 5, 8))
    raw["index_topk"] = rng.choice((2, 4, 2048))
    raw |= {"n_group": 1, "topk_group": 1, "num_experts_per_tok": rng.randint(1, 3)}
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["first_k_dense_replace"] = rng.randint(0, 5)
    if raw["model_type"] == "glm_moe_dsa":
        choice = rng.random()
        if choice < 0.3:
            raw["indexer_types"] = ["full", *(rng.choice(("full", "shared")) for _ in range(layers - 1))]
        elif choice < 0.6:
            raw["index_topk_pattern"] = "F" + "".join(rng.choice("FS") for _ in range(layers - 1))
        elif choice < 0.8:
            raw |= {"index_topk_freq": rng.randint(0, 3), "index_skip_topk_offset": rng.randint(1, 3)}
    return raw
