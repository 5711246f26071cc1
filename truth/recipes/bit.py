"""BiT's random configs: stages of both kinds of layers, with every padding."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages whose widths the groups of their norms divide."""
    depths = images.stages(rng, 1, 4)
    raw |= {"depths": depths, "hidden_sizes": [8 * rng.randint(1, 8) for _ in depths], "embedding_size": 4 * rng.randint(1, 4)}
    raw |= {"num_groups": rng.choice((1, 2, 4)), "layer_type": rng.choice(("preactivation", "bottleneck"))}
    raw |= {"global_padding": rng.choice((None, None, "SAME", "same", "valid")), "output_stride": rng.choice((4, 8, 16, 32))}
    raw["width_factor"] = rng.choice((1, 1, 1, 2))
    return raw | {"image_size": images.picture(rng)} | images.outputs(rng, len(depths))
