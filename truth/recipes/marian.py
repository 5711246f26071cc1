"""Marian's random configs: one vocabulary for both languages, or one for each."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the padding token inside either vocabulary."""
    raw["pad_token_id"] = rng.choice((0, 1))
    return raw
