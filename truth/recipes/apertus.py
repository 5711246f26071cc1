"""Random configs of Llama's likes: DiffLlama's key-value heads come in pairs."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw pairs of heads."""
    if raw["model_type"] == "diffllama":
        heads = rng.choice((2, 4, 8))
        raw |= {"num_attention_heads": heads, "hidden_size": heads * rng.choice((4, 8, 12))}
        raw["num_key_value_heads"] = rng.choice([number for number in (2, 4, 8) if number <= heads])
    return raw
