"""Random configs of BEiT and data2vec for images: four layers to segment with, positions of each kind, pools."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the heads on maps are made of."""
    layers = raw["num_hidden_layers"] = rng.randint(4, 6)
    raw["out_indices"] = sorted(rng.sample(range(1, layers + 1), 4))
    raw["pool_scales"] = rng.sample((1, 2, 3, 4, 6), rng.randint(1, 4))
    raw["auxiliary_num_convs"] = rng.choice((0, 1, 1, 2, 3))
    raw["layer_scale_init_value"] = rng.choice((0.0, 0.1, 1.0))
    return raw
