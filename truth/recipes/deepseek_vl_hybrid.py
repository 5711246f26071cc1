"""Random configs and inputs of DeepSeek-VL of two resolutions: each image twice."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Name an early layer of the large tower, and give the text a width that halves."""
    fine = raw.get("high_res_vision_config")
    if fine is not None:
        fine["global_attn_indexes"] = fine.get("global_attn_indexes") or [0]
    text = raw.get("text_config")
    if text is not None and text.get("hidden_size", 2) % 2:
        text["hidden_size"] *= 2
    return raw | {"image_token_id": 5}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images of both sizes."""
    if lengths.images is None:
        return seen.inputs(model, lengths)
    count, fine = lengths.batch * lengths.images, model.config.high_res_vision_config
    large = import_module("torch").ones(count, fine.num_channels, fine.image_size, fine.image_size)
    image = {"pixel_values": seen.pixels(model, count), "high_res_pixel_values": large}
    body = getattr(model, "model", model)
    return seen.inputs(body, lengths, image)
