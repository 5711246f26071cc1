"""Funnel's random configs: blocks of several sizes, layers that run more than once, both kinds of positions."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the blocks; the hidden size is even, for the sines."""
    if rng.random() < 0.8:
        raw["block_sizes"] = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.5:
            raw["block_repeats"] = [rng.randint(1, 2) for _ in raw["block_sizes"]]
    if rng.random() < 0.5:
        raw["attention_type"] = rng.choice(["relative_shift", "factorized"])
    if raw.get("hidden_size", raw.get("d_model", 2)) % 2:
        raw["d_model"] = 2 * raw.get("n_head", 12)
    return raw
