"""Random configs and inputs of OWL-ViT: one text for each image."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let most texts be as wide as the shared space, which the heads compare with patches."""
    if "text_config" in raw and rng.random() < 0.8:
        raw["projection_dim"] = raw["text_config"].get("hidden_size", 512)
    return raw
