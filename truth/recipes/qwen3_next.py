"""Random configs of Qwen3-Next and Qwen3.5: kinds of layers, and value heads that are a multiple of the key heads."""

from __future__ import annotations

import random
from typing import Any

LAYERS = {"qwen3_next": 48, "qwen3_5_text": 32, "qwen3_5_moe_text": 40}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number; without one, every fourth layer attends."""
    layers = raw.get("num_hidden_layers", LAYERS[raw["model_type"]])
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("linear_attention", "full_attention")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["full_attention_interval"] = rng.randint(1, 4)
    if raw["model_type"] == "qwen3_next" and rng.random() < 0.6:
        raw["decoder_sparse_step"] = rng.randint(1, 3)
        raw["mlp_only_layers"] = [index for index in range(layers) if rng.random() < 0.3]
    keys = rng.randint(1, 3)
    raw |= {"linear_num_key_heads": keys, "linear_num_value_heads": keys * rng.randint(1, 3)}
    return raw
