"""Random configs and inputs of Kimi K2.5: patches of images of any shape, merged by squares or oblongs."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how patches are merged, and fit the projector to the tower in most draws."""
    if raw["model_type"] == "kimi_k25_vision":
        return raw | {"merge_kernel_size": rng.choice(([1, 1], [2, 2], [3, 3], [2, 1]))}
    vision = raw.get("vision_config")
    if vision is not None and "hidden_size" in vision and rng.random() < 0.8:
        raw["projection_hidden_size"] = vision["hidden_size"]
    return raw | {"image_token_id": 5}


def passes(model: Any) -> list[Pass]:
    """List passes with images."""
    return patched_inputs.passes(model, 6) if not hasattr(model.config, "vision_config") else patched_inputs.passes(model, _merge(model)[0])


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    pixels = torch.zeros(len(shapes) * lengths.patches[0] * lengths.patches[1], 3, vision.patch_size, vision.patch_size)
    if not whole:
        return {"pixel_values": pixels, "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, _merge(model)[0]) | {"pixel_values": pixels, "image_grid_thw": shapes}


def _merge(model: Any) -> Any:
    return getattr(model.config, "vision_config", model.config).merge_kernel_size
