"""VITS: steps that lengthen a frame, and speakers with or without a vector."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of one length, and speakers."""
    steps, kernels = rng.randint(1, 4), rng.randint(1, 3)
    raw["upsample_rates"] = [rng.randint(2, 5) for _ in range(steps)]
    raw["upsample_kernel_sizes"] = [rate + 2 * rng.randint(0, 2) for rate in raw["upsample_rates"]]
    raw["resblock_kernel_sizes"] = [rng.choice((3, 5, 7)) for _ in range(kernels)]
    raw["resblock_dilation_sizes"] = [[1, 3, 5][: rng.randint(1, 3)] for _ in range(kernels)]
    raw |= {"num_speakers": rng.choice((1, 1, 4)), "speaker_embedding_size": rng.choice((0, 5)), "window_size": rng.choice((0, 2, 4))}
    return raw | {"upsample_initial_channel": 2**steps * rng.randint(1, 4) + rng.randint(0, 3)}
