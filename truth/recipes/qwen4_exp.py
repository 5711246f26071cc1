"""Random configs and inputs of Qwen4-Exp: an indexer, tables on layers of linear attention, and Qwen-VL's tower."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl_moe

inputs, passes = qwen_vl_moe.inputs, qwen_vl_moe.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the class has no default of."""
    if raw["model_type"] == "qwen4_exp":
        inner = raw.get("text_config") or {"num_hidden_layers": 2, "hidden_size": 16, "vocab_size": 60}
        return raw | {"text_config": draw(rng, {"model_type": "qwen4_exp_text", **inner})}
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    known = ("linear_attention", "linear_attention", "indexed_attention", "full_attention") if rng.random() < 0.5 else ("linear_attention",)
    kinds = [rng.choice(known) for _ in range(layers)]
    raw |= {
        "layer_types": kinds,
        "num_experts_per_tok": 2,
        "num_experts": rng.randint(2, 5),
        "head_dim": 16,
        "eos_token_id": rng.choice((3, [3, 4])),
    }
    raw |= {"indexer_n_heads": rng.randint(1, 3), "indexer_kv_heads": 1, "indexer_head_dim": rng.choice((16, 24))}
    raw |= {"indexer_budget": 8, "indexer_compress_ratio": 4, "hc_count": rng.randint(2, 4)}
    raw |= {"ngram_size": rng.randint(2, 4), "heads_per_ngram": rng.randint(1, 3), "ngram_vocab_size_base": rng.randint(2, 3000)}
    raw["linear_num_key_heads"] = rng.randint(1, 3)
    raw["linear_num_value_heads"] = raw["linear_num_key_heads"] * rng.randint(1, 2)
    raw["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2]}
    heads = (raw["ngram_size"] - 1) * raw["heads_per_ngram"]
    tables = [index + 1 for index, kind in enumerate(kinds) if kind == "linear_attention" and rng.random() < 0.5]
    return raw | {"ple_layer_ids": tables, "ple_embed_dim": heads * rng.randint(1, 9)}
