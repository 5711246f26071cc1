"""Random configs and inputs of PaliGemma and Gemma 3: what images become must be as wide as the text."""

from __future__ import annotations

import random
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Fit the projection to the text, and tokens to patches."""
    vision, text = raw.get("vision_config"), raw.get("text_config")
    if raw["model_type"] == "paligemma" and text is not None:
        raw["projection_dim"] = text.get("hidden_size", 3072) if text else 2048
    if raw["model_type"] == "gemma3" and vision is not None:
        across = vision.get("image_size", 224) // vision.get("patch_size", 16)
        raw["mm_tokens_per_image"] = rng.randint(1, across) ** 2
    return raw | {"image_token_index": 5}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, images and the marks of their places."""
    made = seen.inputs(model, lengths)
    if "pixel_values" in made:
        made["token_type_ids"] = (made["input_ids"] == model.config.image_token_id).long()
    return made
