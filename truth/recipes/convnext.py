"""ConvNeXt's random configs and inputs: stages, pictures, and the map of the stem for the encoder alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images
from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, some of them as wide as the one before, with and without scales."""
    depths = images.stages(rng, 1, 4)
    raw |= {"depths": depths, "hidden_sizes": images.widths(rng, len(depths)), "num_stages": len(depths)}
    raw |= {"image_size": images.picture(rng), "patch_size": rng.randint(2, 4)} | images.outputs(rng, len(depths))
    if rng.random() < 0.5 and raw["model_type"] == "convnext":
        raw["layer_scale_init_value"] = rng.choice((0.0, 1.0))
    if raw["model_type"] == "dinov3_convnext":
        raw = {key: value for key, value in raw.items() if key not in ("num_stages", "patch_size")}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or the map of the stem."""
    if model.main_input_name != "hidden_states":
        return plain(model, lengths)
    side, patch = model.config.image_size, model.config.patch_size
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return {"hidden_states": import_module("torch").zeros(lengths.batch, model.config.hidden_sizes[0], height // patch, width // patch)}
