"""Random configs and inputs of ViLT."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import clip_towers


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how many patches are looked at, at most."""
    if rng.random() < 0.5:
        raw["max_image_length"] = rng.choice((-1, 3, 7, 20))
    if rng.random() < 0.8:
        raw |= {"num_images": rng.randint(1, 3), "modality_type_vocab_size": 4}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words and an image, or as many as a class compares."""
    made = clip_towers.inputs(model, lengths)
    if type(model).__name__ == "ViltForImagesAndTextClassification":
        made["pixel_values"] = made["pixel_values"][:, None].expand(-1, model.config.num_images, -1, -1, -1)
    return made
