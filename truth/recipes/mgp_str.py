"""Random configs and inputs of MGP-STR: widths of whole eighths."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a hidden size that heads and groups divide."""
    heads = raw["num_attention_heads"] = rng.choice((1, 2, 3, 4))
    raw |= {"hidden_size": 8 * heads * rng.randint(1, 3), "mlp_ratio": rng.choice((1.5, 2.0, 4.0))}
    if isinstance(raw.get("image_size"), int):
        raw["image_size"] = [raw["image_size"], 2 * raw["image_size"]]
    return raw
