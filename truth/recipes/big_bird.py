"""BigBird's random configs: both kinds of attention."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kind of attention; blocks of 16 keep short texts in full."""
    if rng.random() < 0.5:
        raw["attention_type"] = rng.choice(["block_sparse", "original_full"])
    if "block_size" in raw:
        raw["block_size"] = 16
    return raw
