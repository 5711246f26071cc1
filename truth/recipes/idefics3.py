"""Random configs and inputs of Idefics 3 and SmolVLM: grids that squares of patches fill."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def fill_grid(rng: random.Random, raw: dict[str, Any], key: str) -> dict[str, Any]:
    """Draw a grid of patches that squares, whose side the config has under *key*, fill."""
    factor = raw[key] = rng.choice((1, 2, 4))
    vision = raw.get("vision_config")
    if vision is not None:
        vision["patch_size"] = rng.choice((2, 3))
        vision["image_size"] = vision["patch_size"] * factor * rng.choice((1, 2))
    return raw | {"image_token_id": 5}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the grid, which spans two configs; the tower alone needs nothing."""
    return raw if raw["model_type"].endswith("_vision") else fill_grid(rng, raw, "scale_factor")


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images; Idefics 3 takes those of an example together."""
    if not hasattr(model.config, "vision_config"):
        made = import_module("torch").ones(lengths.batch, model.config.num_channels, *_both(model.config.image_size))
        return {"pixel_values": made}
    image: dict[str, Any] | None = None
    if lengths.images is not None and model.config.model_type in ("idefics3", "smolvlm"):
        pixels = seen.pixels(model, lengths.batch * lengths.images)
        image = {"pixel_values": pixels.view(lengths.batch, lengths.images, *pixels.shape[1:])}
    return seen.inputs(model, lengths, image)


def _both(side: Any) -> tuple[int, int]:
    return tuple(side) if isinstance(side, (list, tuple)) else (side, side)
