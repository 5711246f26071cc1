"""ESM's random configs: a vocabulary, which has no default, and both kinds of positions."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Give every config a vocabulary with its special tokens inside."""
    raw.setdefault("vocab_size", 33)
    raw |= {"pad_token_id": 1, "mask_token_id": 5}
    if rng.random() < 0.5:
        raw["position_embedding_type"] = rng.choice(["rotary", "absolute"])
    return raw
