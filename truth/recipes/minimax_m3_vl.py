"""Random configs and inputs of MiniMax M3 with images: a text that fits its own recipe, patches of images of several shapes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.recipes import minimax_m3


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone; heads of the tower are wide enough for three rotary axes."""
    vision = raw if raw["model_type"].endswith("_vision") else raw.get("vision_config")
    if vision is not None:
        vision |= {"num_attention_heads": (heads := rng.choice((1, 2, 3))), "hidden_size": heads * rng.choice((12, 24))}
        vision |= {"patch_size": rng.randint(2, 5), "spatial_merge_size": rng.choice((1, 2, 3))}
    if raw.get("text_config") is not None:
        raw["text_config"] = minimax_m3.draw(rng, raw["text_config"])
    return raw if vision is raw else raw | {"image_token_index": 5, "video_token_index": 6}


def passes(model: Any) -> list[Pass]:
    """List passes with images, where there is a tower."""
    config = getattr(model.config, "vision_config", model.config)
    return patched_inputs.passes(model, config.spatial_merge_size) if hasattr(config, "spatial_merge_size") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    torch = import_module("torch")
    vision = getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    count = int(shapes.shape[0]) * lengths.patches[0] * lengths.patches[1]
    flat = torch.zeros(count, vision.num_channels * vision.temporal_patch_size * vision.patch_size**2)
    if not whole:
        return {"pixel_values": flat, "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, vision.spatial_merge_size) | {"pixel_values": flat, "image_grid_thw": shapes}
