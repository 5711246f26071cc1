"""PEGASUS-X's random configs: even blocks, which can be shifted by half."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw small even blocks."""
    return raw | {"block_size": rng.choice((2, 4, 6, 8)), "pad_token_id": rng.choice((0, 1))}
