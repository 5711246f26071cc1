"""Random configs of Kimi K3: lists of layers that name each layer once."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kind of attention of each layer, and heads that divide the vision tower's width."""
    text = dict(raw.get("text_config", {}))
    layers = text["num_hidden_layers"] = rng.randint(1, 5)
    full = [number for number in range(1, layers + 1) if rng.random() < 0.5]
    text["linear_attn_config"] = {
        "head_dim": rng.choice((4, 6)),
        "num_heads": rng.randint(1, 3),
        "short_conv_kernel_size": rng.randint(2, 5),
        "full_attn_layers": full,
        "kda_layers": [number for number in range(1, layers + 1) if number not in full],
    }
    heads = rng.randint(1, 3)
    vision = {**raw.get("vision_config", {}), "vt_num_attention_heads": heads, "qkv_hidden_size": 8 * heads}
    return raw | {"text_config": text, "vision_config": vision}
