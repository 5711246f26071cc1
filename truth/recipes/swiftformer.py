"""SwiftFormer's random configs: stages, some of which keep width and map."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages and what stands between them."""
    depths = [rng.randint(1, 3), *images.stages(rng, 1, 3)]
    raw |= {
        "depths": depths,
        "embed_dims": [2 * rng.choice((3, 5, 8)) for _ in depths],
        "downsamples": [rng.random() < 0.5 for _ in depths],
    }
    raw |= {"mlp_ratio": rng.randint(1, 4), "down_patch_size": rng.choice((2, 3, [3, 5])), "down_stride": rng.randint(1, 2)}
    return raw | {"down_pad": rng.randint(0, 2), "image_size": images.picture(rng)}
