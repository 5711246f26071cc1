"""Cosmos 3 Edge: rotary sections that fill half a head, and images of any size by their patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads with their sections, and positions that make a square."""
    kind = raw["model_type"]
    text = raw if kind == "cosmos3_edge_text" else raw.get("text_config")
    if text is not None:
        text["head_dim"] = rng.choice((8, 12, 16))
        half = text["head_dim"] // 2
        text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [half - 2, 1, 1]}
    vision = raw if kind == "cosmos3_edge_vision" else raw.get("vision_config")
    if vision is not None:
        vision |= {"num_patches": rng.choice((9, 16, 25)), "patch_size": rng.randint(2, 5), "spatial_merge_size": rng.choice((1, 2, 3))}
    return raw | ({"image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 7} if kind == "cosmos3_edge" else {})


def passes(model: Any) -> list[Pass]:
    """List passes with images, of even and of uneven shapes."""
    config = model.config
    merge = getattr(getattr(config, "vision_config", config), "spatial_merge_size", None)
    if merge is None:
        return []
    shapes = ((4 * merge, 2 * merge), (3 * merge, 5 * merge))
    if config.model_type == "cosmos3_edge_vision":
        return [Pass(1, 16, patches=shape) for shape in shapes]
    return [Pass(1, 30, images=1, patches=shape) for shape in shapes]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and for an image its patches, shape and places."""
    torch, config = import_module("torch"), model.config
    vision, made = getattr(config, "vision_config", config), {}
    alone = config.model_type == "cosmos3_edge_vision"
    if alone and lengths.patches is None:
        raise RefusedError("an image of any size is told by its patches")
    if lengths.patches is not None:
        rows, columns = lengths.patches
        pixels = torch.zeros(lengths.batch * rows * columns, vision.num_channels * vision.patch_size**2)
        made = {"pixel_values": pixels, "grid_thw" if alone else "image_grid_thw": torch.tensor([[1, rows, columns]] * lengths.batch)}
    if alone:
        return made
    tokens = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if lengths.patches is not None:
        tokens[:, 1 : 1 + lengths.patches[0] * lengths.patches[1] // vision.spatial_merge_size**2] = config.image_token_id
        made["mm_token_type_ids"] = (tokens == config.image_token_id).int()
    return made | {"input_ids": tokens}
