"""Gemma 3n's random configs: kinds of layers, widths layer by layer, layers that reuse keys, copies of the state."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(2, 6)
    raw["layer_types"] = [rng.choice(("sliding_attention", "full_attention")) for _ in range(layers)]
    raw["num_kv_shared_layers"] = rng.choice((0, 1, 1, 2))
    raw["altup_num_inputs"] = rng.randint(2, 5)
    raw["intermediate_size"] = rng.choice((12, [rng.randint(3, 20) for _ in range(layers)]))
    return raw
