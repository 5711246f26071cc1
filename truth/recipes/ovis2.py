"""Random configs and inputs of Ovis 2: more visual words than marks, texts as wide as the table of visual words."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Fit the table to the text in most draws."""
    if raw["model_type"] == "ovis2_vision":
        raw["vocab_size"] = raw.get("num_visual_indicator_tokens", 5) + rng.randint(1, 30)
        return raw
    text = raw.get("text_config")
    if text is not None and rng.random() < 0.8:
        raw["hidden_size"] = text.setdefault("hidden_size", 48)
        raw["vocab_size"] = text.setdefault("vocab_size", 64)
    return raw | {"image_token_id": 5, "visual_indicator_token_ids": [6, 7]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images."""
    if hasattr(model.config, "vision_config"):
        return seen.inputs(model, lengths)
    side = model.config.image_size
    return {"pixel_values": import_module("torch").ones(lengths.batch, model.config.num_channels, side, side)}
