"""Random configs and inputs of RF-DETR: those of LW-DETR over its own transformer."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import lw_detr, rf_detr_dinov2
from truth.recipes.lw_detr import inputs


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw queries no more than there are places, mostly one map, and a smaller map for masks."""
    raw = lw_detr.draw(rng, raw)
    raw.pop("projector_scale_factors")
    raw["backbone_config"] = rf_detr_dinov2.draw(rng, {"model_type": "rf_detr_dinov2"})
    raw |= {"num_queries": rng.randint(1, 4), "num_feature_levels": rng.choice((1, 1, 1, 1, 2)), "mask_downsample_ratio": rng.randint(1, 4)}
    return raw


__all__ = ["draw", "inputs"]
