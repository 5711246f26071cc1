"""LiLT's random configs: a hidden size of whole sixths and a width that shrinks evenly."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Mend what has to divide."""
    if raw["model_type"] == "lilt" and ("hidden_size" in raw or "channel_shrink_ratio" in raw):
        heads = raw.setdefault("num_attention_heads", 12)
        raw["channel_shrink_ratio"] = rng.choice([1, 2, 4])
        raw["hidden_size"] = 24 * heads
        raw.setdefault("intermediate_size", 3072)
    return raw
