"""Random configs of dots3-note's language model: kinds of layers, heads that are alike, widths that add up."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    layers, heads = rng.randint(1, 6), rng.randint(1, 4)
    raw |= {"num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": heads, "qk_rope_head_dim": rng.choice((2, 4))}
    raw |= {"qk_nope_head_dim": rng.randint(2, 8), "index_head_dim": 4 + rng.randint(0, 5), "num_experts_per_tok": rng.randint(1, 3)}
    raw |= {
        "head_dim": raw["qk_rope_head_dim"] * rng.choice((1, 2, 4)),
        "n_group": 1,
        "topk_group": 1,
        "n_routed_experts": rng.randint(3, 8),
    }
    raw.pop("num_local_experts", None)
    limited = rng.randint(1, 4)
    raw |= {"swa_num_attention_heads": limited, "swa_num_key_value_heads": limited, "swa_q_lora_rank": rng.randint(2, 9)}
    raw |= {
        "swa_kv_lora_rank": rng.randint(2, 9),
        "swa_head_dim": 12,
        "swa_qk_nope_head_dim": rng.choice((4, 8)),
        "swa_v_head_dim": rng.randint(2, 9),
    }
    for key in ("layer_types", "mlp_layer_types", "rope_parameters", "per_layer_config", "swa_qk_rope_head_dim"):
        raw.pop(key, None)
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("full_attention", "indexed_attention", "sliding_attention")) for _ in range(layers)]
    if rng.random() < 0.3:
        raw["use_dsa"] = False
    if rng.random() < 0.3:
        raw["use_sliding_window"] = False
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    else:
        raw |= {
            "first_k_dense_replace": rng.randint(0, 3),
            "moe_layer_freq": rng.choice((1, 2, [rng.randint(0, 1) for _ in range(layers)])),
        }
    return raw
