"""Random configs of later mixtures: heads of a stated width, and which layers have experts."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    if raw["model_type"] == "hunyuan_v1_moe":
        raw.setdefault("head_dim", rng.choice((4, 8, 16)))
    if raw["model_type"] == "flint" and rng.random() < 0.6:
        raw["decoder_sparse_step"] = rng.randint(1, 3)
        raw["mlp_only_layers"] = [index for index in range(raw.get("num_hidden_layers", 49)) if rng.random() < 0.3]
    return raw
