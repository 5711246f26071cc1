"""Random configs of FastVLM: small FastViTs, with the width that published configs state."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a tower of few layers, as it is trained or folded."""
    name = rng.choice(("fastvit_t8", "fastvit_sa12", "fastvit_mci0", "fastvit_mci3"))
    stages = 5 if name == "fastvit_mci3" else 4
    arguments: dict[str, Any] = {"layers": [rng.randint(1, 2) for _ in range(stages)]}
    if rng.random() < 0.7:
        arguments["inference_mode"] = rng.random() < 0.7
    width = rng.choice((3072, 64 * rng.randint(1, 4)))
    raw |= {"vision_feature_select_strategy": "full", "vision_feature_layer": -1}
    return raw | {"vision_config": {"model_type": "timm_wrapper", "architecture": name, "hidden_size": width, "model_args": arguments}}
