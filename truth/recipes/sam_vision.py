"""Random configs of Segment Anything's image encoder: windows of every size, and layers that look everywhere."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw windows that need not fill the map, a map that patches need not fill, and ratios of widths."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["global_attn_indexes"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    raw["window_size"] = rng.choice((0, 1, 2, 3, 4, 7))
    raw["mlp_ratio"] = rng.choice((0.5, 1.0, 2.25, 4.0))
    patch = raw["patch_size"] = rng.randint(2, 5)
    raw["image_size"] = patch * rng.randint(2, 6) + rng.randint(0, 1)
    return raw
