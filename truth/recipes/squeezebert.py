"""SqueezeBERT's random configs: groups that divide, embeddings as wide as the rest."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Mend sizes and groups."""
    heads = raw.setdefault("num_attention_heads", 12)
    raw["hidden_size"] = raw["embedding_size"] = heads * 4 * rng.randint(1, 3)
    raw["intermediate_size"] = 4 * rng.randint(1, 15)
    for name in ("q", "k", "v", "post_attention", "intermediate", "output"):
        raw[f"{name}_groups"] = rng.choice([1, 2, 4])
    return raw
