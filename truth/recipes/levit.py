"""Random configs of LeViT: three stages whose widths divide by keys."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, and an image that four convolutions make as small as its patches do."""
    key = rng.choice((2, 4, 8))
    widths = [8 * rng.randint(1, 4) for _ in range(3)]
    if rng.random() < 0.3:  # the reference writes them into its files
        steps = [[rng.randint(1, 4) for _ in range(3)] + [rng.randint(0, 2), rng.randint(1, 3)] for _ in range(2)]
        raw |= {"down_ops": [["Subsample", *step] if rng.random() < 0.7 else [""] for step in steps]}
    return raw | {
        "image_size": 16 * rng.randint(1, 5),
        "patch_size": 16,
        "kernel_size": 3,
        "stride": 2,
        "padding": 1,
        "hidden_sizes": widths,
        "key_dim": [key, rng.randint(2, 6), rng.randint(2, 6)],
        "num_attention_heads": [rng.randint(1, 4) for _ in range(3)],
        "depths": [rng.randint(0, 3) for _ in range(rng.choice((2, 3, 3)))],
        "mlp_ratio": [rng.randint(0, 3) for _ in range(3)],
        "attention_ratio": [rng.randint(1, 4) for _ in range(3)],
    }
