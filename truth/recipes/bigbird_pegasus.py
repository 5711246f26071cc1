"""BigBird-PEGASUS' random configs: blocks and full attention, biases and none."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kind of attention."""
    if rng.random() < 0.6:
        raw["attention_type"] = rng.choice(("original_full", "block_sparse"))
    return raw
