"""BERT's random configs: the class argument ``add_pooling_layer`` is a field to us."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let a decoder have cross-attention more often than two coins would."""
    if rng.random() < 0.2:
        raw["is_decoder"] = raw["add_cross_attention"] = True
    return raw
