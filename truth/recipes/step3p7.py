"""Random configs and inputs of Step 3.7: a text that fits its own recipe, images of the config's side."""

from __future__ import annotations

import random
from typing import Any

from truth import seen
from truth.recipes import clip_towers, step3p5

passes = seen.passes


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images, or images alone for the tower."""
    made: dict[str, Any] = (seen if hasattr(model, "get_image_features") else clip_towers).inputs(model, lengths)
    return made


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone; heads of the tower are wide enough for two rotary axes."""
    vision = raw if raw["model_type"].endswith("_vision") else raw.get("vision_config")
    if vision is not None:
        heads = rng.choice((1, 2, 3))
        vision |= {
            "num_attention_heads": heads,
            "hidden_size": heads * rng.choice((8, 16)),
            "mlp_ratio": rng.choice((2.0, 8960 / 1536, 1.3)),
        }
        vision |= {"patch_size": (patch := rng.randint(2, 5)), "image_size": patch * rng.randint(2, 6)}
    if raw.get("text_config") is not None:
        raw["text_config"] = step3p5.draw(rng, raw["text_config"])
    return raw if vision is raw else raw | {"image_token_id": 5}
