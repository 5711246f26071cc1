"""Random configs of DBRX: rotary positions, for which the reference has no default that builds, and a head of its own."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """State the base of the rotary positions, and what the class clips to, without which it does not run."""
    attention = raw.setdefault("attn_config", {})
    attention |= {"rope_theta": rng.choice((10000, 500000.0)), "clip_qkv": rng.choice((1, 8, 0.5))}
    raw["tie_word_embeddings"] = False
    return raw
