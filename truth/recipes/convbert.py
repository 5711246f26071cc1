"""ConvBERT's random configs: groups and heads that divide what they have to."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Mend sizes; an even number of channels per head, kernels of odd width."""
    heads = raw.setdefault("num_attention_heads", 12)
    raw["hidden_size"] = heads * rng.choice([4, 8])
    raw["num_groups"] = rng.choice([1, 2, 4])
    raw["intermediate_size"] = 4 * rng.randint(1, 12)
    raw["conv_kernel_size"] = rng.choice([3, 5, 9])
    if rng.random() < 0.5:
        raw["embedding_size"] = raw["hidden_size"]
    return raw
