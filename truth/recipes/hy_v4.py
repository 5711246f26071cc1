"""Random configs of Hunyuan 4: kinds of layers, indexers that are shared, and even rotary widths."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    raw["qk_rope_head_dim"] = rng.choice((2, 4, 8))
    raw["index_head_dim"] = raw["qk_rope_head_dim"] + rng.choice((2, 5, 8))
    raw |= {"index_topk": rng.choice((2, 4, 2048)), "n_group": 1, "topk_group": 1, "num_experts_per_tok": rng.randint(1, 3)}
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if rng.random() < 0.5:
        raw["indexer_types"] = ["full", *(rng.choice(("full", "shared")) for _ in range(layers - 1))]
    return raw
