"""Random configs of Hiera: stages, units of a mask that divide by all poolings, and images of whole units."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages of several kinds of attention, and an image that they divide."""
    stages = rng.randint(1, 4)
    unit, heads = 2 ** (stages - 1) * rng.choice((1, 2)), [rng.choice((1, 2, 4)) for _ in range(stages)]
    names = ["stem", *(f"stage{index + 1}" for index in range(stages))]
    handed = sorted(rng.sample(range(stages + 1), rng.randint(1, stages + 1)))
    raw |= {"out_features": [names[index] for index in handed]} if rng.random() < 0.5 else {}
    decoder_heads = rng.choice((1, 2, 4))
    raw |= {
        "decoder_hidden_size": decoder_heads * rng.randint(1, 6),
        "decoder_num_heads": decoder_heads,
        "decoder_depth": rng.randint(0, 3),
    }
    raw |= {"mask_ratio": rng.choice((0.6, 0.5, 0.3))}
    return raw | {
        "embed_dim": 4 * rng.randint(1, 4),
        "embed_dim_multiplier": rng.choice((1.0, 2.0, 2, 1.5)) if max(heads) == 1 else 2.0,
        "depths": [rng.randint(1, 3) for _ in range(stages)],
        "num_heads": heads,
        "num_query_pool": stages - 1 if rng.random() < 0.5 else rng.randint(0, stages - 1),
        "masked_unit_size": [unit, unit],
        "masked_unit_attention": [rng.random() < 0.5 for _ in range(stages)],
        "image_size": [2 * unit * rng.randint(1, 3), 2 * unit * rng.randint(1, 3)],
        "patch_size": [3, 3],
        "patch_stride": [2, 2],
        "patch_padding": [1, 1],
        "mlp_ratio": rng.choice((1.0, 2.5, 4.0)),
    }
