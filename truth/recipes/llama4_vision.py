"""Random configs and inputs of Llama 4's tower: widths that fit each other, grids that squares fill."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what spans two fields."""
    if raw["model_type"] == "llama4_vision_model":
        factor = rng.choice((1, 2, 4))
        raw["patch_size"] = rng.randint(2, 3)
        raw["image_size"] = raw["patch_size"] * factor * rng.randint(1, 2)
        raw["pixel_shuffle_ratio"] = 1 / factor
        raw["intermediate_size"] = raw.setdefault("hidden_size", 16 * raw.get("num_attention_heads", 16)) * factor**2
        raw["projector_input_dim"] = raw["projector_output_dim"] = raw["vision_output_dim"] = rng.randint(8, 40)
    return raw | ({"image_token_index": 5} if raw["model_type"] == "llama4" else {})


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images."""
    if hasattr(model.config, "vision_config"):
        return seen.inputs(model, lengths)
    side = model.config.image_size
    return {"pixel_values": import_module("torch").ones(lengths.batch, model.config.num_channels, side, side)}
