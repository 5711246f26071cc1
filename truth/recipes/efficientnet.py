"""EfficientNet's random configs: coefficients, and every list of stages."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from weighbridge.blueprints.modules.convolutions import make_divisible


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a last width that is the last norm's, too, but for one config in ten."""
    count, wider, divisor = rng.randint(1, 4), rng.choice((0.1, 0.15, 0.3)), rng.choice((2, 4, 8))
    raw |= {"width_coefficient": wider, "depth_coefficient": rng.choice((0.4, 1.0, 1.3)), "depth_divisor": divisor}
    raw |= {"kernel_sizes": [rng.choice((3, 5)) for _ in range(count)], "strides": [rng.randint(1, 2) for _ in range(count)]}
    outs = [rng.randint(8, 90) for _ in range(count)]
    raw |= {"in_channels": [32, *outs[:-1]], "out_channels": outs, "num_block_repeats": [rng.randint(1, 3) for _ in range(count)]}
    raw |= {"expand_ratios": [rng.randint(1, 4) for _ in range(count)], "squeeze_expansion_ratio": rng.choice((0.1, 0.25, 0.5))}
    raw |= {"hidden_dim": make_divisible(1280 * wider, divisor) + (rng.random() < 0.1), "image_size": images.picture(rng)}
    return raw | {"depthwise_padding": sorted(rng.sample(range(8), rng.randint(0, 4)))}
