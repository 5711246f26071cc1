"""Falcon's configs: the reference's counter sees no attention where the new architecture has a single head."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Give the new architecture at least two heads."""
    if raw.get("new_decoder_architecture") and raw.get("num_attention_heads", 71) == 1:
        raw["num_attention_heads"] = 2
        raw["hidden_size"] = 2 * int(raw.get("hidden_size", 4544))
    return raw
