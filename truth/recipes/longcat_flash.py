"""LongCat's random configs: experts that do nothing."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    raw["qk_rope_head_dim"] = raw["head_dim"] = rng.choice((2, 4, 8))
    raw.pop("qk_head_dim", None)
    raw |= {"zero_expert_num": rng.randint(0, 3), "moe_topk": rng.randint(1, 3)}
    return raw
