"""FocalNet's random configs: windows, levels, and both kinds of patches."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw every list of stages."""
    depths = images.stages(rng, 1, 4)
    raw |= {"depths": depths, "focal_levels": [rng.randint(0, 3) for _ in depths], "focal_windows": [rng.choice((1, 3, 5)) for _ in depths]}
    raw |= {"embed_dim": rng.randint(3, 16), "mlp_ratio": rng.choice((1.0, 1.5, 4.0)), "patch_size": rng.randint(2, 4)}
    raw |= {"hidden_sizes": [1] * len(depths), "image_size": images.picture(rng), "encoder_stride": rng.randint(1, 4)}
    return raw
