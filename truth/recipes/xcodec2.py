"""Random configs of X-Codec 2 and NeuCodec: heads that divide, groups of channels that fit, and few strides."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    heads = rng.choice((1, 2, 4))
    raw |= {"num_attention_heads": heads, "hidden_size": 32 * heads, "num_key_value_heads": heads, "head_dim": rng.choice((8, 16, None))}
    raw |= {"encoder_hidden_size": rng.randint(2, 6), "downsampling_ratios": [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]}
    raw |= {"quantization_levels": [rng.randint(2, 4) for _ in range(rng.randint(1, 4))]}
    if raw["model_type"] == "neucodec":
        raw |= {"input_sampling_rate": 16000, "output_sampling_rate": rng.choice((16000, 24000, 48000))}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: the wave and its features are of lengths that fit each other."""
    raise RefusedError("the wave and its features are of lengths that fit each other")
