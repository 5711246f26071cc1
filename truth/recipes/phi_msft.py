"""The published Phi's random configs: a vocabulary of whole sixty-fours."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a vocabulary that the published code need not round."""
    return raw | {"vocab_size": 64 * rng.randint(1, 4)}
