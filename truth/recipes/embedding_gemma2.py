"""Random configs of EmbeddingGemma 2: kinds of layers, and the sizes of those that attend in full."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 7)
    if rng.random() < 0.5:
        raw["layer_types"] = [*(rng.choice(("sliding_attention", "full_attention")) for _ in range(layers - 1)), "full_attention"]
    elif rng.random() < 0.5:
        raw["sliding_window_pattern"] = rng.randint(1, 4)
    heads = raw.setdefault("num_attention_heads", 4)
    raw |= {"head_dim": rng.choice((4, 8, 12)), "global_head_dim": rng.choice((4, 8, 16)), "pad_token_id": 0}
    raw["num_global_key_value_heads"] = rng.choice([number for number in range(1, heads + 1) if heads % number == 0])
    if "layer_types" in raw and rng.random() < 0.4:  # as the reference saves it: the sizes of layers in full stand layer by layer
        sizes = {"head_dim": raw["global_head_dim"]}
        raw["per_layer_config"] = {f"{index:02}": sizes for index, kind in enumerate(raw["layer_types"]) if kind == "full_attention"}
    return raw
