"""Random configs and inputs of towers over images of any size: patches with their shapes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """State the text beside the others now and then, as older configs do; rotary sections fill a head."""
    name = raw["model_type"]
    if name == "paddleocr_vl_text":
        half = raw.get("head_dim", 128) // 2
        raw["rope_parameters"] = {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "mrope_section": [half - 2 * (half // 4), half // 4, half // 4],
        }
        return raw
    if name.endswith("_vision"):
        return raw | ({"spatial_merge_size": rng.choice((1, 2, 3))} if name == "paddleocr_vl_vision" else {})
    text = raw.get("text_config")
    if name == "paddleocr_vl" and text is not None and rng.random() < 0.3:
        del raw["text_config"]
        raw |= {key: value for key, value in text.items() if key not in ("model_type", "tie_word_embeddings")}
    return raw | {"image_token_id": 5, "video_token_id": 6}


def passes(model: Any) -> list[Pass]:
    """List passes with images."""
    return patched_inputs.passes(model, _merge(model)) if hasattr(_vision(model), "num_channels") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    torch, vision = import_module("torch"), _vision(model)
    whole = hasattr(model.config, "vision_config")
    if lengths.images is None and (whole or not hasattr(vision, "num_channels")):
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    count, side = int(shapes.shape[0]) * lengths.patches[0] * lengths.patches[1], vision.patch_size
    if model.config.model_type.startswith("video"):
        if whole:
            raise RefusedError("how many patches are merged is no part of the config")
        flat = torch.zeros(count, vision.num_channels * side * side)
        return {"pixel_values": flat, "grid_thw": shapes, "merge_sizes": torch.ones(len(shapes), dtype=torch.long)}
    pixels = torch.zeros(count, vision.num_channels, side, side)
    if not whole:
        return {"pixel_values": pixels[None], "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, _merge(model)) | {"pixel_values": pixels, "image_grid_thw": shapes}


def _vision(model: Any) -> Any:
    return getattr(model.config, "vision_config", model.config)


def _merge(model: Any) -> int:
    return getattr(_vision(model), "spatial_merge_size", 1)
