"""Random configs of DeepSeek V4: kinds of layers by each of the keys that say them, and groups that fit the heads."""

from __future__ import annotations

import random
from typing import Any

ATTENTIONS = ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["head_dim"] = rng.choice((16, 24, 32))
    raw["o_groups"] = rng.choice([n for n in (1, 2, 3, 4, 6) if raw.get("num_attention_heads", 64) % n == 0])
    raw |= {"index_head_dim": rng.choice((8, 16)), "qk_rope_head_dim": rng.choice((2, 4, 8)), "index_topk": rng.choice((2, 512))}
    choice = rng.random()
    if choice < 0.4:
        raw["layer_types"] = [rng.choice(ATTENTIONS) for _ in range(layers)]
    elif choice < 0.7:
        raw["compress_ratios"] = [rng.choice((0, 4, 128)) for _ in range(layers + rng.randint(0, 1))]
    if rng.random() < 0.4:
        raw["mlp_layer_types"] = [rng.choice(("hash_moe", "moe")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["num_hash_layers"] = rng.randint(0, 4)
    if rng.random() < 0.5:
        raw |= {"compress_rate_csa": rng.randint(2, 5), "compress_rate_hca": rng.randint(2, 9)}
    return raw
