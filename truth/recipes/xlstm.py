"""xLSTM's random configs: its factors, its two ways to hold weights, and words as wide as the layers."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what is no size."""
    if rng.random() < 0.7:
        raw |= {"weight_mode": rng.choice(("single", "fused")), "qk_dim_factor": rng.choice((0.5, 0.25, 1.0, 1.0))}
        raw |= {"v_dim_factor": rng.choice((0.5, 1.0, 1.7)), "ffn_proj_factor": rng.choice((2.667, 1.3, 4.0))}
    if rng.random() < 0.5:
        raw.pop("num_blocks", None)
    return raw
