"""Segment Anything 3: widths that fit each other, and odd kernels."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one width for the networks behind the encoders."""
    if raw["model_type"] == "sam3_lite_text_text_model":
        return raw | {"repmixer_kernel_size": rng.choice((3, 5, 11))}
    width = 8 * rng.randint(1, 4)
    for key in ("geometry_encoder_config", "detr_encoder_config", "detr_decoder_config", "mask_decoder_config"):
        raw[key] = {**raw.get(key, {}), "hidden_size": width, "num_attention_heads": rng.choice((1, 2, 4))}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words for the light text encoder; what a picture is prompted with, no config tells."""
    if model.config.model_type != "sam3_lite_text_text_model":
        raise RefusedError("a prompt is as long as it is, and may hold boxes")
    return {"input_ids": import_module("torch").ones(lengths.batch, lengths.seq, dtype=import_module("torch").long)}
