"""Random configs and inputs of GroupViT: stages of ever fewer groups."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages; a stage is given as many groups as the one before put out."""
    vision = raw.get("vision_config", raw if "vision" in raw["model_type"] else None)
    if vision is not None:
        stages = rng.randint(1, 3)
        groups = [rng.randint(2, 6) for _ in range(stages)]
        last = groups[-1] if rng.random() < 0.5 else 0
        vision |= {"depths": [rng.randint(1, 2) for _ in groups], "num_group_tokens": [*groups[:-1], last], "num_output_groups": groups}
        vision["assign_mlp_ratio"] = rng.choice(([0.5, 4], [1.0, 2.0]))
        vision["hidden_size"] = 2 * vision.setdefault("num_attention_heads", 6) * rng.randint(1, 6)
    return raw
