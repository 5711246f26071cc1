"""Random configs and inputs of SigLIP."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any

from truth.recipes import clip_towers


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Mend what has to fit: both towers end in one width, and patches cut beforehand make a square."""
    text, vision = raw.get("text_config", raw), raw.get("vision_config", raw)
    if "siglip2" in raw["model_type"] and "num_patches" in vision:
        vision["num_patches"] = rng.choice((4, 9, 16, 25))
        vision["patch_size"] = rng.randint(1, 4)
    if text is not vision and rng.random() < 0.8:
        text["projection_size"] = vision.get("hidden_size", 768)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and an image; of SigLIP 2, as many patches as it has positions."""
    if not model.config.model_type.startswith("siglip2"):
        return clip_towers.inputs(model, lengths)
    torch = import_module("torch")
    taken = inspect.signature(model.forward).parameters
    made = {}
    if "input_ids" in taken:
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if "pixel_values" in taken:
        vision = getattr(model.config, "vision_config", model.config)
        side = int(vision.num_patches**0.5)
        made["pixel_values"] = torch.zeros(lengths.batch, vision.num_patches, vision.num_channels * vision.patch_size**2)
        made["pixel_attention_mask"] = torch.ones(lengths.batch, vision.num_patches, dtype=torch.long)
        made["spatial_shapes"] = torch.tensor([[side, side]] * lengths.batch)
    return made
