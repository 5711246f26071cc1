"""Random configs of MiniMax M3's text: kinds of layers by each of the keys that say them, and an indexer as published files have it."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone; the indexer has as many heads as there are keys."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["rotary_dim"] = rng.choice((2, 4))
    raw["num_experts_per_tok"] = rng.randint(1, 3)
    heads = raw.get("num_key_value_heads", 4)
    if rng.random() < 0.5:
        raw |= {"layer_types": [rng.choice(("minimax_m3_sparse", "full_attention")) for _ in range(layers)], "index_n_heads": heads}
        raw |= {"index_head_dim": rng.choice((8, 16)), "index_block_size": rng.randint(2, 5), "index_topk_blocks": rng.randint(1, 4)}
    else:
        inner = {"sparse_num_index_heads": heads, "sparse_index_dim": rng.choice((8, 12)), "sparse_block_size": rng.randint(2, 5)}
        raw["sparse_attention_config"] = {**inner, "sparse_attention_freq": [rng.randint(0, 1) for _ in range(layers)]}
    if rng.random() < 0.4:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    elif rng.random() < 0.6:
        raw["moe_layer_freq"] = [rng.randint(0, 1) for _ in range(layers)]
    return raw
