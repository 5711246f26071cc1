"""CANINE's random configs: hash functions that divide the hidden size, and small blocks."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw sizes that fit together."""
    hashes = raw["num_hash_functions"] = rng.choice((1, 2, 4))
    if "hidden_size" in raw:
        raw["hidden_size"] *= hashes
    raw |= {
        "downsampling_rate": rng.randint(1, 3),
        "local_transformer_stride": rng.choice((5, 8, 20)),
        "upsampling_kernel_size": rng.randint(1, 5),
    }
    return raw
