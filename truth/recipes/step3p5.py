"""Step's random configs: kinds of layers by any of their keys, and more heads where attention is limited."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers, kv_heads = rng.randint(1, 6), rng.randint(1, 2)
    raw |= {"num_hidden_layers": layers, "num_key_value_heads": kv_heads, "num_attention_heads": kv_heads * rng.randint(1, 3)}
    for key in ("attention_other_setting", "layer_types", "mlp_layer_types", "moe_layers_enum", "per_layer_config"):
        raw.pop(key, None)
    raw.pop("num_sliding_attention_heads", None)
    raw["num_experts_per_tok"] = rng.randint(1, 3)
    further = rng.choice((0, 0, 2))
    if further:
        raw["num_nextn_predict_layers"] = further
    if rng.random() < 0.7:
        raw["layer_types"] = [rng.choice(("full_attention", "sliding_attention")) for _ in range(layers + further)]
        raw["sliding_window"] = 8
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers + further)]
    elif rng.random() < 0.6:
        raw["moe_layers_enum"] = ",".join(str(index) for index in range(layers) if rng.random() < 0.5)
    choice = rng.random()
    if choice < 0.4:
        raw["num_sliding_attention_heads"] = kv_heads * rng.randint(1, 3)
    elif choice < 0.7:
        raw["attention_other_setting"] = {"num_attention_heads": kv_heads * rng.randint(1, 3)}
    if "layer_types" in raw and rng.random() < 0.4:
        # As the reference saves it: the heads of layers that see a window stand layer by layer.
        sizes = {"num_attention_heads": kv_heads * rng.randint(1, 3)}
        limited = [index for index, kind in enumerate(raw["layer_types"][:layers]) if kind == "sliding_attention"]
        raw["per_layer_config"] = {str(index): sizes for index in limited}
    return raw
