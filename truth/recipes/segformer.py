"""SegFormer's random configs: stages with patches, strides and reductions of their own."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw every list of stages."""
    depths = images.stages(rng, 1, 4)
    count = len(depths)
    heads = [rng.choice((1, 2, 3)) for _ in depths]
    raw |= {"depths": depths, "num_encoder_blocks": count, "num_attention_heads": heads}
    raw |= {"hidden_sizes": [number * rng.randint(3, 8) for number in heads], "mlp_ratios": [rng.randint(1, 4) for _ in depths]}
    raw |= {"sr_ratios": [rng.randint(1, 3) for _ in depths], "patch_sizes": [rng.choice((3, 5, 7)) for _ in depths]}
    return raw | {"strides": [rng.randint(1, 2) for _ in depths], "image_size": images.picture(rng)}
