"""Random configs of Mistral Large 4's text: kinds of layers, indexers and latents that are shared, layers without rotary positions."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone; latents are shared between layers that agree about positions."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    raw["qk_rope_head_dim"] = rng.choice((2, 4, 8))
    raw["index_head_dim"] = raw["qk_rope_head_dim"] + rng.choice((2, 5, 8))
    raw |= {"index_topk": rng.choice((2, 4, 2048)), "n_group": 1, "topk_group": 1, "num_experts_per_tok": rng.randint(1, 3)}
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["first_k_dense_replace"] = rng.randint(0, 5)
    choice = rng.random()
    if choice < 0.4:
        raw["indexer_types"] = ["full", *(rng.choice(("full", "shared")) for _ in range(layers - 1))]
    elif choice < 0.7:
        raw["index_topk_pattern"] = "F" + "".join(rng.choice("FS") for _ in range(layers - 1))
    rotary = [int((index + 1) % 4 != 0) for index in range(layers)]
    if rng.random() < 0.5:
        rotary = raw["no_rope_layers"] = [rng.randint(0, 1) for _ in range(layers)]
    if rng.random() < 0.6:
        first = {kind: rotary.index(kind) for kind in set(rotary)}
        raw["kv_source_layers"] = [rng.choice((index, first[kind])) for index, kind in enumerate(rotary)]
    return raw
