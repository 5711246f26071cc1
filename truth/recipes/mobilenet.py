"""MobileNet's random configs: multipliers, steps, and images of any side."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw multipliers; the second version's steps and strides, too."""
    raw |= {
        "image_size": images.picture(rng),
        "depth_multiplier": rng.choice((0.1, 0.25, 0.35, 0.7, 1.0, 1.3)),
        "min_depth": rng.randint(3, 16),
    }
    if raw["model_type"] == "mobilenet_v2":
        raw |= {"depth_divisible_by": rng.choice((2, 5, 8)), "expand_ratio": rng.choice((1, 2.5, 6.0)), "tf_padding": rng.random() < 0.5}
        raw["output_stride"] = rng.choice((4, 8, 16, 32))
    return raw
