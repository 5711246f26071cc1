"""Random configs of ALIGN: towers as EfficientNet's, in most draws as wide as the shared space."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import efficientnet
from weighbridge.blueprints.modules.convolutions import make_divisible


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages for a tower, and fit the shared space to it."""
    if raw["model_type"] == "align_vision_model":
        return efficientnet.draw(rng, raw)
    vision = raw.get("vision_config")
    if raw["model_type"] == "align" and vision and vision.get("out_channels") and rng.random() < 0.7:
        wide = vision["out_channels"][-1] * vision.get("width_coefficient", 2.0)
        raw["projection_dim"] = make_divisible(wide, vision.get("depth_divisor", 8))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images, or either."""
    torch, made = import_module("torch"), {}
    if model.config.model_type != "align_vision_model":
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if model.config.model_type != "align_text_model":
        vision = getattr(model.config, "vision_config", model.config)
        side = vision.image_size
        height, width = side if isinstance(side, (list, tuple)) else (side, side)
        made["pixel_values"] = torch.zeros(lengths.batch, vision.num_channels, height, width)
    return made
