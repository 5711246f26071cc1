"""Megatron-LM: its sizes have no defaults, and shared experts take no biases."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """State what the arguments must state."""
    heads = rng.choice((2, 4))
    raw |= {"num_layers": rng.randint(1, 4), "hidden_size": 8 * heads, "num_attention_heads": heads, "num_query_groups": 2}
    raw |= {"padded_vocab_size": rng.randint(20, 90), "max_position_embeddings": rng.randint(8, 40)}
    raw.pop("moe_layer_freq", None)
    if raw.get("moe_shared_expert_intermediate_size") is not None:
        raw["disable_bias_linear"] = True
    return raw
