"""Granite Docling: a tower that puts out the text's width, and sides that its factor divides."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Set the image to whole squares of patches, and the tower's output to the text's width."""
    tower = raw if raw["model_type"] == "granite_docling_vision" else raw.setdefault("vision_config", {})
    factor, patch = rng.choice((2, 4)), rng.randint(2, 5)
    tower |= {"scale_factor": factor, "patch_size": patch, "image_size": patch * factor * rng.randint(1, 3)}
    layers = tower.get("num_hidden_layers", 12)
    tower["deepstack_visual_indexes"] = sorted(rng.sample(range(layers), min(layers, rng.randint(1, 2))))
    tower["out_hidden_size"] = 4 * rng.randint(1, 8)
    if raw["model_type"] == "granite_docling":
        text = raw.setdefault("text_config", {})
        width = text.get("num_attention_heads", 16) * 4
        text["hidden_size"] = tower["out_hidden_size"] = width
        if not tower.get("use_fine_route", True):
            raw.pop("density_router_hidden_size", None)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tiles of a page, or tokens."""
    torch, config = import_module("torch"), model.config
    if config.model_type == "granite_docling_vision":
        return {"pixel_values": torch.zeros(lengths.batch, config.num_channels, config.image_size, config.image_size)}
    return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
