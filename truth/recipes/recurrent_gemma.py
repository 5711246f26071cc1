"""RecurrentGemma's random configs: patterns of recurrence and attention."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a pattern, and a width that the heads divide."""
    raw["block_types"] = rng.choice((["recurrent", "recurrent", "attention"], ["attention"], ["attention", "recurrent"]))
    raw["num_hidden_layers"] = rng.randint(1, 7)
    if raw.get("lru_width") is not None:
        raw["lru_width"] = raw.get("num_attention_heads", 10) * rng.randint(2, 6)
    return raw
