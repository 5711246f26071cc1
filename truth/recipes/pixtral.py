"""Random configs and inputs of Pixtral: images of several shapes, in a number of patches that are told."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen
from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw small patches, and one layer to hand on."""
    if raw["model_type"] == "pixtral":
        raw["patch_size"] = rng.randint(2, 4)
        return raw
    return raw | {"image_token_index": 5, "vision_feature_layer": rng.choice((-1, 0)), "spatial_merge_size": rng.choice((1, 2, 3))}


def passes(model: Any) -> list[Pass]:
    """List passes over images of several shapes."""
    if model.config.model_type == "pixtral":
        return [Pass(1, 16, patches=(4, 6)), Pass(3, 16, patches=(5, 3))]
    return [Pass(1, 60, images=1, patches=(6, 6)), Pass(2, 60, images=2, patches=(6, 7))]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images with their sizes."""
    torch = import_module("torch")
    if model.config.model_type == "pixtral":
        if lengths.patches is None:
            raise RefusedError("an image of any size is told by its patches")
        return _images(torch, model.config, lengths.batch, lengths.patches)
    if lengths.images is None:
        return seen.inputs(model, lengths)
    return seen.inputs(model, lengths, _images(torch, model.config.vision_config, lengths.batch * lengths.images, lengths.patches))


def _images(torch: Any, vision: Any, count: int, patches: tuple[int, int]) -> dict[str, Any]:
    side = tuple(number * vision.patch_size for number in patches)
    return {"pixel_values": torch.ones(count, vision.num_channels, *side), "image_sizes": torch.tensor([side] * count)}
