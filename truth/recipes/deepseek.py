"""Random configs of DeepSeek and its likes: queries with and without a rank, dense first layers, one group of experts."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone; the widths of rotary heads are even."""
    kind = raw["model_type"]
    if rng.random() < 0.4:
        raw["q_lora_rank"] = None
    raw["qk_rope_head_dim"] = rng.choice((2, 4, 8))
    if kind in ("deepseek_v2", "deepseek_v3", "mistral4"):
        raw["first_k_dense_replace"] = rng.randint(0, 5)
    if kind == "axk1" and rng.random() < 0.6:
        raw |= {"first_k_dense_replace": rng.randint(0, 3), "moe_layer_freq": rng.randint(1, 3)}
    elif kind == "axk1" and rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(raw.setdefault("num_hidden_layers", 3))]
    if kind not in ("minicpm3", "youtu"):
        raw["n_group"] = raw["topk_group"] = 1
        raw.setdefault("num_experts_per_tok", rng.randint(1, 3))
    return raw
