"""Random configs and inputs of two models side by side."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let most images have one side, and most pooled vectors the hidden size."""
    if "vision_config" in raw and rng.random() < 0.8:
        raw["vision_config"].pop("pooler_output_size", None)
    return raw
