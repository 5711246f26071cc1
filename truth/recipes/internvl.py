"""Random configs and inputs of InternVL: grids that squares of patches fill."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.idefics3 import inputs, passes

__all__ = ["draw", "inputs", "passes"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the tower's norm and grid, or how the squares are put side by side."""
    if raw["model_type"] == "internvl_vision":
        raw["norm_type"] = rng.choice(("layer_norm", "rms_norm"))
        if rng.random() < 0.7:
            raw["patch_size"] = [patch := rng.choice((2, 3)), patch + rng.choice((0, 1))]
            raw["image_size"] = [raw["patch_size"][0] * 4, raw["patch_size"][1] * 4]
        return raw
    raw["downsample_ratio"] = 1 / rng.choice((1, 2, 4))
    raw["vision_feature_select_strategy"] = rng.choice(("default", "default", "full"))
    return raw | {"image_token_id": 5}
