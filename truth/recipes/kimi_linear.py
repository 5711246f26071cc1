"""Random configs of Kimi Linear and its like: kinds of layers by either key, and a sub-config of linear attention."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    raw |= {"n_group": 1, "topk_group": 1, "num_experts_per_tok": rng.randint(1, 3), "qk_rope_head_dim": rng.choice((2, 4, 8))}
    raw["num_key_value_heads"] = raw["num_attention_heads"] = raw.get("num_attention_heads", 4)
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    else:
        raw["first_k_dense_replace"] = rng.randint(0, 4)
    kinds = [rng.choice(("linear_attention", "full_attention")) for _ in range(layers)]
    if raw["model_type"] == "bailing_hybrid":
        raw |= {"layer_types": kinds} if rng.random() < 0.5 else {"layer_group_size": rng.randint(1, 4)}
        return raw
    raw["q_lora_rank"] = rng.choice((None, 12))
    raw.pop("linear_attn_config", None)
    if rng.random() < 0.4:
        raw["layer_types"] = kinds
    elif rng.random() < 0.6:
        raw["linear_attn_config"] = {
            "head_dim": rng.choice((4, 6)),
            "num_heads": rng.randint(1, 3),
            "short_conv_kernel_size": rng.randint(2, 5),
            "full_attn_layers": [number + 1 for number in range(layers) if kinds[number] == "full_attention"],
            "kda_layers": [number + 1 for number in range(layers) if kinds[number] != "full_attention"],
        }
    return raw
