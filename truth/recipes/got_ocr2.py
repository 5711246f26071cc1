"""Random configs and inputs of GOT-OCR 2: Segment Anything's encoders in front of texts."""

from __future__ import annotations

import random
from typing import Any

from truth import seen
from truth.recipes import sam_vision

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw windows and maps for a tower, and the token of images for the whole."""
    if raw["model_type"] == "got_ocr2_vision":
        raw = sam_vision.draw(rng, raw)
        del raw["mlp_ratio"]
        return raw
    return raw | {"image_token_index": 5}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images."""
    if not hasattr(model.config, "vision_config"):
        return {"pixel_values": _pixels(model.config, lengths.batch)}
    return seen.inputs(model, lengths)


def _pixels(config: Any, count: int) -> Any:
    from importlib import import_module

    return import_module("torch").ones(count, config.num_channels, config.image_size, config.image_size)
