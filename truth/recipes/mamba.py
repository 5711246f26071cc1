"""Mamba's random configs: ranks that are told or derived; Jamba's periods and offsets."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the rank as the reference writes it, and for Jamba where attention and experts stand."""
    if raw["model_type"] != "jamba":
        raw["time_step_rank"] = rng.choice(("auto", 3, 5))
        return raw
    raw["mamba_dt_rank"] = rng.choice(("auto", 3))
    for name in ("attn", "expert"):
        raw[f"{name}_layer_period"] = rng.randint(1, 5)
        raw[f"{name}_layer_offset"] = rng.randrange(raw[f"{name}_layer_period"])
    raw["num_hidden_layers"] = rng.randint(1, 8)
    return raw
