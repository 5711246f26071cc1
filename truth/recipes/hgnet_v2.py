"""HGNet's random configs: every list of stages, and widths that fit together."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages; as the class does, the backbone tells the widths that the config says beside them."""
    count = rng.randint(1, 4)
    outs = [2 * rng.randint(2, 10) for _ in range(count)]
    stem = [raw.setdefault("num_channels", 3), 2 * rng.randint(2, 6), rng.randint(3, 12)]
    raw |= {"stem_channels": stem, "embedding_size": stem[2], "hidden_sizes": outs, "depths": [1] * count, "stage_out_channels": outs}
    raw |= {"stage_in_channels": [stem[2], *outs[:-1]], "stage_mid_channels": [rng.randint(3, 9) for _ in outs]}
    raw |= {"stage_num_blocks": [rng.randint(1, 2) for _ in outs], "stage_downsample": [rng.random() < 0.6 for _ in outs]}
    raw |= {"stage_downsample_strides": [rng.choice((2, 2, [2, 1])) for _ in outs], "stage_light_block": [rng.random() < 0.5 for _ in outs]}
    raw |= {"stage_kernel_size": [rng.choice((1, 3, 5)) for _ in outs], "stage_numb_of_layers": [rng.randint(1, 3) for _ in outs]}
    raw |= {"stem_strides": [2, 1, 1, rng.randint(1, 2), rng.randint(1, 2)], "image_size": images.picture(rng)}
    return raw | images.outputs(rng, count)
