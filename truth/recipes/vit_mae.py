"""Random configs of the masked autoencoder: a narrower transformer beside the first, and square images."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how much is masked, and a decoder whose heads fit."""
    if raw["model_type"] != "vit_mae":
        return raw
    if isinstance(raw.get("image_size"), list):
        raw["image_size"] = max(raw["image_size"])
    heads = raw["decoder_num_attention_heads"] = rng.choice((1, 2, 3))
    width = 4 * rng.randint(1, 3)
    raw["mask_ratio"] = rng.choice((0.75, 0.5, 0.25, 0.0, 0.6))
    return raw | {"decoder_hidden_size": heads * width}
