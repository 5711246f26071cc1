"""ResNet's random configs: stages, and an image beside them."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages of both kinds of layers, some of them as wide as their input."""
    depths = images.stages(rng)
    widths = images.widths(rng, len(depths), 4)
    if rng.random() < 0.8:
        raw |= {"depths": depths, "hidden_sizes": widths, "embedding_size": rng.choice((widths[0], 12)), "image_size": images.picture(rng)}
        raw |= images.outputs(rng, len(depths))
    return raw | {"layer_type": rng.choice(("basic", "bottleneck"))}
