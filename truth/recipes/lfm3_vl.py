"""Random configs and inputs of LFM3-VL: kinds of layers, patches of images of any shape."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw kinds of layers, and how wide the convolutions are."""
    if raw["model_type"] == "lfm3_vl_vision":
        layers = raw["num_hidden_layers"] = rng.randint(1, 5)
        if rng.random() < 0.6:
            raw["layer_types"] = [rng.choice(("conv", "full_attention")) for _ in range(layers)]
        return raw | {"conv_kernel_size": rng.choice((1, 2, 3, 5)), "spatial_merge_size": rng.choice((1, 2, 3))}
    return raw | {"image_token_id": 5, "video_token_id": 6}


def passes(model: Any) -> list[Pass]:
    """List passes with images."""
    return patched_inputs.passes(model, getattr(model.config, "vision_config", model.config).spatial_merge_size)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    width = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    pixels = torch.zeros(len(shapes) * lengths.patches[0] * lengths.patches[1], width)
    if not whole:
        return {"pixel_values": pixels, "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, vision.spatial_merge_size) | {"pixel_values": pixels, "image_grid_thw": shapes}
