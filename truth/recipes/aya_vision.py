"""Random configs and inputs of Aya Vision and Command A Vision: grids that squares fill, a gate of even width."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.idefics3 import fill_grid, inputs, passes

__all__ = ["draw", "inputs", "passes"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the grid, which spans two configs, and the width inside the projector."""
    raw = fill_grid(rng, raw, "downsample_factor")
    if rng.random() < 0.8:
        raw["alignment_intermediate_size"] = 2 * rng.randint(2, 20)
    if raw["model_type"] == "aya_vision":
        raw |= {"vision_feature_select_strategy": "full", "image_token_index": 5}
    return raw
