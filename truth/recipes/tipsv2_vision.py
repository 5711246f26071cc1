"""Random configs of TIPSv2's vision tower: ratios of widths."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a ratio."""
    return raw | {"mlp_ratio": rng.choice((1, 2.5, 3, 4.0))}
