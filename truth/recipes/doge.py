"""Doge's random configs: experts in a square, and no more of them at work than there are."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw experts."""
    if rng.random() < 0.7:
        raw["num_experts"] = rng.randint(4, 40)
        raw["num_experts_per_tok"] = rng.randint(1, 4)
    return raw
