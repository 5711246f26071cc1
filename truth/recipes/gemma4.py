"""Gemma 4's random configs: kinds of layers, layers that reuse keys, tables and experts or none."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(2, 7)
    kinds = [rng.choice(("sliding_attention", "full_attention")) for _ in range(layers - 1)]
    if rng.random() < 0.7:
        raw["layer_types"] = [*kinds, "full_attention"]
    raw["global_head_dim"] = rng.choice((4, 8, 16))
    raw["num_global_key_value_heads"] = rng.choice((None, 1))
    if "layer_types" in raw and rng.random() < 0.4:
        # As the reference saves it: the sizes of layers in full stand layer by layer.
        sizes = {"head_dim": rng.choice((4, 8, 16))}
        raw["per_layer_config"] = {f"{index:02}": sizes for index, kind in enumerate(raw["layer_types"]) if kind == "full_attention"}
    raw["num_kv_shared_layers"] = rng.choice((0, 1, 1, 2))
    if raw["model_type"] == "gemma4_text":
        raw["hidden_size_per_layer_input"] = rng.choice((0, 6, 10))
        raw |= {"num_experts": rng.randint(3, 5), "top_k_experts": rng.randint(1, 3), "moe_intermediate_size": rng.randint(3, 20)}
    return raw
