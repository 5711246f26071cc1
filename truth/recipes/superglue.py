"""Random configs of SuperGlue and LightGlue; how many points they find, a picture of nothing does not tell."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw layers and widths."""
    if raw["model_type"] == "lightglue":
        heads = raw.get("num_attention_heads", 4)
        raw |= {"num_attention_heads": heads, "descriptor_dim": 4 * heads * rng.randint(1, 5) if rng.random() < 0.7 else 256}
        if heads % raw.get("num_key_value_heads", heads):
            raw["num_key_value_heads"] = 1
        return raw
    raw["keypoint_encoder_sizes"] = [rng.randint(4, 20) for _ in range(rng.randint(1, 4))]
    return raw | {"gnn_layers_types": [rng.choice(("self", "cross")) for _ in range(rng.randint(1, 5))]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make nothing: the arithmetic depends on what an image shows."""
    raise RefusedError("how many points an image has, its pixels tell")
