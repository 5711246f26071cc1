"""Random configs and inputs of LayoutLMv3: words, their boxes, and an image where it is embedded."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let the tables of a page add up to the hidden size, and labels be few or many."""
    heads = raw["num_attention_heads"] = rng.choice((1, 2, 3, 4))
    width = rng.randint(1, 4) * heads
    raw |= {"coordinate_size": width, "shape_size": width, "hidden_size": 6 * width, "num_labels": rng.choice((1, 2, 2, 9, 10, 12))}
    raw |= {"patch_size": rng.choice((2, 3, 4)), "max_2d_position_embeddings": 1100}
    raw["input_size"] = raw["patch_size"] * rng.randint(2, 4)
    raw.pop("id2label", None)
    if rng.random() < 0.8:
        raw.pop("text_embed", None)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words at the corner of the page, and the image."""
    torch, config = import_module("torch"), model.config
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3), "bbox": torch.zeros(lengths.batch, lengths.seq, 4, dtype=torch.long)}
    if config.visual_embed:
        made["pixel_values"] = torch.zeros(lengths.batch, config.num_channels, config.input_size, config.input_size)
    return made
