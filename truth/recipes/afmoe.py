"""AFMoE's random configs: how many layers have no experts, and which attend in full."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kinds of layers."""
    raw["num_dense_layers"] = rng.randint(0, 4)
    if rng.random() < 0.5:
        raw["global_attn_every_n_layers"] = rng.randint(1, 4)
    return raw
