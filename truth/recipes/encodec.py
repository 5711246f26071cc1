"""Random configs of EnCodec and Mimi: ratios, codebooks of a power of two, filters that the blocks divide."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what is no size, and what must fit."""
    raw |= {"upsampling_ratios": [rng.randint(2, 5) for _ in range(rng.randint(1, 3))], "codebook_size": 2 ** rng.randint(2, 6)}
    raw |= {"num_residual_layers": rng.randint(1, 2), "num_filters": rng.randint(2, 6), "compress": rng.choice((1, 2))}
    if raw["model_type"] == "encodec":
        raw |= {"norm_type": rng.choice(("weight_norm", "time_group_norm")), "num_lstm_layers": rng.randint(1, 3)}
        return raw | {"target_bandwidths": rng.choice(([1.5, 3.0, 6.0], [0.9, 2.5]))}
    raw |= {"num_quantizers": rng.randint(3, 6), "num_semantic_quantizers": rng.randint(1, 2)}
    hidden = raw.get("hidden_size", 512)
    raw["upsample_groups"] = rng.choice((1, 2, hidden))
    if rng.random() < 0.3:
        raw["vector_quantization_hidden_dimension"] = hidden
    if rng.random() < 0.3:
        raw[rng.choice(("encoder_config", "decoder_config"))] = None
    return raw
