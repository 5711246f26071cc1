"""CPM-Ant's random configs: enough kinds of prompts for the one that the reference takes."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw prompts and buckets."""
    raw["prompt_types"] = rng.randint(3, 6)
    raw["prompt_length"] = rng.randint(1, 9)
    raw["segment_types"] = rng.randint(3, 6)
    raw["position_bias_num_buckets"] = 4 * rng.randint(2, 8)
    return raw
