"""X-Codec: DAC's ratios, lists of one length, and codebooks."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import dac


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw both models and what goes on behind the speech encoder."""
    blocks = rng.randint(1, 3)
    inner = raw.get("acoustic_model_config")
    if inner is not None:
        raw["acoustic_model_config"] = dac.draw(rng, inner) | {"model_type": "dac"}
        raw["acoustic_model_config"] |= {"hidden_size": rng.randint(4, 20), "upsampling_ratios": [2] * len(inner["downsampling_ratios"])}
    raw |= {"strides": [rng.randint(1, 3) for _ in range(blocks)], "channel_ratios": [rng.randint(1, 2) for _ in range(blocks)]}
    raw |= {"block_dilations": [rng.randint(1, 3) for _ in range(rng.randint(1, 3))], "sample_rate": rng.choice((800, 1600))}
    return raw | {
        "codebook_size": rng.choice((8, 16, 20)),
        "target_bandwidths": [0.5, rng.choice((1, 4))],
        "codebook_dim": rng.choice((None, 9)),
    }
