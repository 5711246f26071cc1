"""XLNet's random configs: heads of one width, attention to both sides or one."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let the width of a head follow from the others, as the reference demands."""
    raw.pop("d_head", None)
    if rng.random() < 0.9:
        raw.pop("use_mems_eval", None)
    if rng.random() < 0.5:
        raw["attn_type"] = rng.choice(["bi", "uni"])
    if rng.random() < 0.5:
        raw |= {"mem_len": rng.choice((None, 0, 5, 30)), "reuse_len": rng.choice((None, 0, 4, 50))}
    return raw
