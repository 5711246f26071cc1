"""Random configs and inputs of ColPali's kin: those of the model inside."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import recipe_inputs, recipe_passes
from weighbridge.blueprints import MODULES


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Take the draw as it is: the model inside has its own recipe."""
    return raw


def passes(model: Any) -> list[Any]:
    """List the passes of the model inside."""
    inside = recipe_passes(MODULES[model.vlm.config.model_type])
    return inside(model.vlm) if inside else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make the inputs of the model inside; ColQwen takes the patches of each image apart."""
    inside = recipe_inputs(MODULES[model.vlm.config.model_type])
    assert inside is not None
    made = inside(model.vlm, lengths)
    made.pop("mm_token_type_ids", None)
    if "image_grid_thw" in made:
        made["pixel_values"] = made["pixel_values"].view(len(made["image_grid_thw"]), -1, made["pixel_values"].shape[-1])
    return made
