"""Random configs of RWKV-7: heads that fill the hidden size."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a head's width, and how many heads there are."""
    width = rng.choice((4, 8, 12))
    return raw | {"head_dim": width, "hidden_size": width * rng.randint(1, 4)}
