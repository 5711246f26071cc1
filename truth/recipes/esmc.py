"""ESM C's random configs: as many heads of keys and values as of queries, and heads that make up the hidden size, mostly."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the reference does not build."""
    raw.pop("num_key_value_heads", None)
    raw["num_attention_heads"] = raw["num_key_value_heads"] = rng.choice((1, 2, 4))
    if rng.random() < 0.7:
        raw |= {"head_dim": rng.choice((4, 8)), "hidden_size": 0}
        raw["hidden_size"] = raw["head_dim"] * raw["num_attention_heads"]
    return raw | {"tie_word_embeddings": rng.random() < 0.5}
