"""LED's random configs: one window for all layers, or one for each."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw even windows, as many as there are layers."""
    raw["encoder_layers"] = layers = rng.randint(1, 4)
    raw["attention_window"] = rng.choice((4, 8, [rng.choice((2, 4, 8)) for _ in range(layers)]))
    return raw | {"pad_token_id": 1}
