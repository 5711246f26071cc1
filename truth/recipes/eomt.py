"""Random configs of EoMT: queries that come in before one of the layers, mostly, and maps that are doubled at most twice."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a small square image, with a rest at times, and how many of the layers see the queries."""
    patch, layers = rng.randint(2, 5), rng.randint(1, 5)
    raw |= {"patch_size": patch, "image_size": patch * rng.randint(1, 4) + rng.randint(0, 1)}
    raw |= {"num_hidden_layers": layers, "num_blocks": rng.randint(1, layers) if rng.random() < 0.9 else rng.choice((0, layers + 1))}
    return raw | {"num_upscale_blocks": rng.randint(0, 2), "num_queries": rng.randint(1, 9), "num_register_tokens": rng.randint(0, 4)}
