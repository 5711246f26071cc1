"""PoolFormer's random configs: every list of stages."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, patches and paddings."""
    depths = images.stages(rng, 1, 4)
    raw |= {"depths": depths, "num_encoder_blocks": len(depths), "hidden_sizes": images.widths(rng, len(depths))}
    raw |= {"patch_sizes": [rng.randint(2, 5) for _ in depths], "strides": [rng.randint(1, 2) for _ in depths]}
    raw |= {"padding": [rng.randint(0, 2) for _ in depths], "mlp_ratio": rng.choice((1.0, 2.5, 4.0))}
    return raw | {"image_size": images.picture(rng)}
