"""DiNAT's random configs: a dilation for every layer. Its attention is natten's, so no forward pass is compared."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, and lists that may be longer than them."""
    depths = images.stages(rng, 1, 4)
    raw |= {"depths": depths, "num_heads": [rng.choice((1, 2)) for _ in depths], "embed_dim": 4 * rng.randint(1, 6), "patch_size": 4}
    raw |= {"dilations": [[rng.randint(1, 4) for _ in range(depth + rng.randint(0, 1))] for depth in depths]}
    raw |= {"kernel_size": rng.choice((3, 5, 7)), "mlp_ratio": rng.choice((1.0, 2.5, 3.0)), "image_size": images.picture(rng)}
    return raw | {"layer_scale_init_value": rng.choice((0.0, 1e-5))} | images.outputs(rng, len(depths))


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Refuse: the attention is natten's."""
    raise RefusedError("the attention is natten's")
