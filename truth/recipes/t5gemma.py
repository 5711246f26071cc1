"""T5Gemma's random configs: two sides of different sizes, or the encoder alone."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep both sides in most draws: most classes need them."""
    if rng.random() < 0.8:
        raw.pop("is_encoder_decoder", None)
    return raw
