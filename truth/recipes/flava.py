"""Inputs of FLAVA: a text, an image, or what the tower over both is given."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the codebook small."""
    codebook = raw if raw["model_type"] == "flava_image_codebook" else raw.get("image_codebook_config")
    if codebook is not None:
        codebook |= {"hidden_size": 4 * rng.randint(1, 4), "num_blocks_per_group": rng.randint(1, 3)}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make what the forward takes."""
    torch, config = import_module("torch"), model.config
    taken = inspect.signature(model.forward).parameters
    if "hidden_states" in taken:
        return {"hidden_states": torch.zeros(lengths.batch, lengths.seq, config.hidden_size)}
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3)} if "input_ids" in taken else {}
    if "pixel_values" in taken:
        image = getattr(config, "image_config", config)
        side = getattr(image, "image_size", 112)
        sides = side if isinstance(side, (list, tuple)) else (side, side)
        channels = getattr(image, "num_channels", getattr(image, "input_channels", 3))
        made["pixel_values"] = torch.zeros(lengths.batch, channels, *sides)
    return made
