"""MobileBERT's random configs: both kinds of norms, heads that divide the bottleneck."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the norm, and mend the sizes that heads divide."""
    if rng.random() < 0.5:
        raw["normalization_type"] = rng.choice(["no_norm", "layer_norm"])
    heads = raw.get("num_attention_heads", 4)
    raw["intra_bottleneck_size"] = heads * rng.choice([2, 4, 8])
    raw["embedding_size"] = min(raw.get("embedding_size", 128), raw.get("hidden_size", 512))
    return raw
