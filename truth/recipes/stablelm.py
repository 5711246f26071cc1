"""Random configs of StableLM and Persimmon: heads wide enough that their rotary part is even."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Widen the heads: a rotary part of one dimension is broadcast to two in the reference, and its products are another's."""
    if "hidden_size" in raw or "num_attention_heads" in raw:
        raw["hidden_size"] = raw.setdefault("num_attention_heads", 4) * rng.choice((8, 16, 24))
    return raw
