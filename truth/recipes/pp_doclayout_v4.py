"""Random configs and inputs of PP-DocLayoutV4: those of RT-DETR."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import rt_detr

inputs = rt_detr.inputs


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw as for RT-DETR."""
    raw = rt_detr.draw(rng, raw)
    if "d_model" in raw:
        raw["hidden_size"] = raw.pop("d_model")
    return raw | {"num_coords": 10, "s2r_steps": rng.randint(1, 4)}
