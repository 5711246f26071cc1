"""X-MOD's random configs: several languages."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw which languages there are, one of them the default."""
    if rng.random() < 0.7:
        raw["languages"] = rng.sample(["en_XX", "de_DE", "zh_CN", "fr_XX"], rng.randint(1, 4))
        raw["default_language"] = raw["languages"][0]
    return raw
