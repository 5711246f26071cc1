"""Random configs of attention by approximation: odd kernels, with and without a convolution."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the convolution; landmarks as many as the tokens they stand for, half of the time."""
    if raw["model_type"] == "yoso":
        raw["conv_window"] = rng.choice([None, 3, 5])
    if raw["model_type"] == "nystromformer":
        raw["conv_kernel_size"] = rng.choice([3, 5, 65])
        if rng.random() < 0.5:
            raw["num_landmarks"] = raw["segment_means_seq_len"] = 8
    return raw
