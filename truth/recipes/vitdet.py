"""Random configs of ViTDet: windows and bottlenecks in some layers."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw which layers have what, and the side of a window."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["window_block_indices"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    raw["residual_block_indices"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    raw["window_size"] = rng.choice((0, 1, 2, 3, 4))
    patch = raw.get("patch_size", 16)
    if isinstance(patch, int):
        raw["pretrain_image_size"] = patch * rng.randint(1, 4)
    return raw
