"""Muse Glimmer: a projector that fits the tower, and images as patches laid out flat."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import cut
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw small patches, a square table of positions, and the projector that the tower's squares of patches fit."""
    if raw["model_type"] == "muse_glimmer_text":
        return raw
    whole = raw["model_type"] == "muse_glimmer"
    vision = raw.setdefault("vision_config", {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2}) if whole else raw
    side = rng.randint(2, 6)
    vision |= {"patch_size": rng.randint(1, 4), "pos_emb_height": side, "pos_emb_width": side, "merge_size": rng.choice((1, 2))}
    if whole:
        raw["out_hidden_size"] = vision.get("hidden_size", 1536) * vision["merge_size"] ** 2
        raw["image_token_id"] = 5
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with images of two shapes."""
    if model.config.model_type == "muse_glimmer_text":
        return []
    return cut.passes(model, getattr(model.config, "vision_config", model.config).merge_size)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config or not hasattr(vision, "patch_size")
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = cut.grid(lengths)
    flat = 3 * vision.patch_temporal * vision.patch_size**2
    pixels = torch.zeros(len(shapes) * lengths.patches[0] * lengths.patches[1], flat)
    if not whole:
        return {"pixel_values": pixels, "grid_thw": shapes}
    return cut.tokens(model, lengths, vision.merge_size) | {"pixel_values": pixels, "image_grid_thw": shapes}
