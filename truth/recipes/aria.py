"""Random configs and inputs of Aria: queries for images of the tower's own number of patches, and for others."""

from __future__ import annotations

import random
from typing import Any

from truth import seen


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how many queries an image of so many patches wants."""
    if raw["model_type"] == "aria_text":
        return raw
    vision = raw.get("vision_config")
    if vision is not None:
        patches = (vision.get("image_size", 224) // vision.get("patch_size", 32)) ** 2
        raw["projector_patch_to_query_dict"] = {str(patches): rng.randint(1, 9), "1000": rng.randint(1, 9)}
    return raw | {"image_token_index": 5}


def passes(model: Any) -> list[Any]:
    """List passes with images, where there is a tower."""
    return seen.passes(model)


inputs = seen.inputs
