"""MiniCPM-V: windows of four, and images as patches in one row."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw where windows are merged, and how often squares are merged behind the tower."""
    whole = not raw["model_type"].endswith("_vision")
    vision = raw.setdefault("vision_config", {}) if whole else raw
    layers = vision["num_hidden_layers"] = rng.randint(1, 4)
    (raw if whole else vision)["insert_layer_id"] = rng.randint(-1, layers)
    vision |= {"patch_size": rng.randint(2, 4), "image_size": 16, "window_kernel_size": [2, 2]}
    if whole:
        raw |= {"downsample_mode": rng.choice(("4x", "16x")), "merger_times": rng.choice((1, 1, 2)), "image_token_id": 5}
    return raw


def _merge(model: Any) -> int:
    config = model.config
    if not hasattr(config, "vision_config"):
        return 2
    layers = config.vision_config.num_hidden_layers
    merges = config.downsample_mode != "4x" and 0 <= config.insert_layer_id < layers
    return int(2 ** (config.merger_times + (1 if merges else 0)))


def passes(model: Any) -> list[Pass]:
    """List passes with images that windows and squares fill."""
    return patched_inputs.passes(model, _merge(model))


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches side by side."""
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)[:, 1:]
    many = len(shapes) * lengths.patches[0] * lengths.patches[1]
    made = {"pixel_values": torch.zeros(1, vision.num_channels, vision.patch_size, many * vision.patch_size), "target_sizes": shapes}
    return made | patched_inputs.tokens(model, lengths, _merge(model)) if whole else made
