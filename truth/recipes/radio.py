"""Random configs of RADIO: images of whole patches, tokens, indices, and videos."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the table of positions and the buffers are made of."""
    patch = raw["patch_size"] = rng.randint(2, 5)
    raw |= {"image_size": patch * rng.randint(1, 4), "max_img_size": patch * rng.randint(4, 8) + rng.randint(0, 1)}
    raw |= {"num_cls_tokens": rng.randint(1, 4), "num_registers": rng.randint(0, 4)}
    raw |= {"summary_idxs": [rng.randrange(raw["num_cls_tokens"]) for _ in range(rng.randint(1, 3))]}
    raw |= {"mlp_ratio": rng.choice((1.0, 2.5, 4.0)), "num_channels": 3}
    if rng.random() < 0.5:
        raw["num_channels"] = channels = rng.randint(1, 4)
        raw |= {"norm_mean": [0.5] * channels, "norm_std": [0.25] * channels}
    return raw | {"video_temporal_patch_size": rng.choice((None, 2, 3))}
