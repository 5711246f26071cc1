"""Random configs and inputs of ModernVBERT: grids that squares of patches fill, images of an example together."""

from __future__ import annotations

import random
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a grid that squares fill."""
    factor = raw["pixel_shuffle_factor"] = rng.choice((1, 2, 4))
    vision = raw.get("vision_config")
    if vision is not None:
        vision["patch_size"] = rng.choice((2, 3))
        vision["image_size"] = vision["patch_size"] * factor * rng.choice((1, 2))
    return raw | {"image_token_id": 5}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images, those of an example together."""
    image: dict[str, Any] | None = None
    if lengths.images is not None:
        body = getattr(model, "model", model)
        pixels = seen.pixels(model, lengths.batch * lengths.images)
        image = {"pixel_values": pixels.view(lengths.batch, lengths.images, *pixels.shape[1:])}
        return seen.inputs(body, lengths, image)
    return seen.inputs(model, lengths)
