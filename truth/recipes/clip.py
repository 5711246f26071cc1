"""Inputs of CLIP and its kin."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the older layout now and then, whose sub-configs take the place of the others."""
    for key in ("text_config", "vision_config"):
        if key in raw and rng.random() < 0.2:
            raw[f"{key}_dict"] = raw[key] | {"hidden_size": 2 * raw[key].get("num_attention_heads", 12) * rng.randint(1, 4)}
            if rng.random() < 0.5:
                raw[f"{key}_dict"].pop("intermediate_size", None)
    return raw
