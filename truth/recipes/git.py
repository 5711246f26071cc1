"""Random configs and inputs of GIT."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw frames that have a vector of their own, now and then."""
    if raw["model_type"] == "git" and rng.random() < 0.4:
        raw["num_image_with_embedding"] = rng.randint(1, 4)
    return raw
