"""Random configs and inputs of TIPSv2."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Make both towers equally wide, and draw the stages of a neck."""
    if raw["model_type"] == "tipsv2":
        text, vision = raw["text_config"], raw["vision_config"]
        for key in ("hidden_size", "num_attention_heads"):
            vision.pop(key, None)
            vision |= {key: text[key]} if key in text else {}
    if raw["model_type"] == "tipsv2_dpt":
        stages = rng.randint(1, 4)
        inner = raw.setdefault("backbone_config", {})
        inner["model_type"] = "tipsv2_vision_model"
        inner["out_indices"] = [rng.randint(0, inner.get("num_hidden_layers", 12))] if stages == 1 else list(range(stages))
        inner["num_hidden_layers"] = max(stages, inner.get("num_hidden_layers", 12))
        inner["reshape_hidden_states"] = False
        raw["neck_hidden_sizes"] = [rng.randint(3, 12) for _ in range(stages)]
        raw["reassemble_factors"] = sorted(rng.choices((4, 2, 1, 0.5), k=stages), reverse=True)
    return raw
