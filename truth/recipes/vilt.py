"""Random configs and inputs of ViLT."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how many patches are looked at, at most."""
    if rng.random() < 0.5:
        raw["max_image_length"] = rng.choice((-1, 3, 7, 20))
    return raw
