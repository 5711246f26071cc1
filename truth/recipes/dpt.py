"""Random configs of DPT: with a transformer of its own, or with a backbone."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import depth_anything
from truth.recipes.depth_anything import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw maps that fit, and how the class token is read out."""
    number = rng.randint(2, 4)
    layers = raw["num_hidden_layers"] = rng.randint(number, number + 2)
    raw |= {"backbone_out_indices": sorted(rng.sample(range(layers), number)), **depth_anything.pyramid(rng, number)}
    raw["readout_type"] = rng.choice(("project", "add", "ignore"))
    inner = raw.pop("backbone_config", None)
    if inner is not None and rng.random() < 0.4:
        depth_anything.backbone(rng, inner, number)
        raw["backbone_config"] = inner | {"model_type": "dinov2"}
    if rng.random() < 0.3:
        raw |= {"add_projection": True, "fusion_hidden_size": 256}
    return raw
