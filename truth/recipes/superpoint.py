"""SuperPoint's random configs: stages, and images beside them."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw widths of stages; scores are mostly those of 64 pixels and none."""
    raw |= {"encoder_hidden_sizes": images.widths(rng, rng.randint(2, 5)), "keypoint_decoder_dim": rng.choice((65, 65, 65, 33))}
    return raw | {"image_size": images.picture(rng)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures of three channels, of which the class takes one."""
    model.config.image_size = getattr(model.config, "image_size", [480, 640])
    return images.pictures(model, lengths)
