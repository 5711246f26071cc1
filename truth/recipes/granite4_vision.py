"""Random configs and inputs of Granite 4 Vision: a tower as wide as whole heads of the Q-Former, windows, and pairs of layers."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the class has no default of, and widths that fit."""
    tower = raw.setdefault("vision_config", {"num_hidden_layers": 2, "intermediate_size": 24})
    tower |= {"hidden_size": 64 * rng.randint(1, 2), "num_attention_heads": rng.choice((1, 2, 4))}
    raw["downsample_rate"] = rng.choice(("1/2", "1/4", "3/8"))
    raw["deepstack_layer_map"] = [[-index, index] for index in range(rng.randint(0, 3))]
    return raw
