"""Inputs of models with two towers: a text and an image for each example."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens where the forward takes them, and an image of the config's own size where it takes one.

    Raises:
        RefusedError: For lengths of a decoder other than the first pass's.
    """
    torch = import_module("torch")
    taken = inspect.signature(model.forward).parameters
    config = model.config
    vision, text = getattr(config, "vision_config", getattr(config, "backbone_config", config)), getattr(config, "text_config", config)
    made: dict[str, Any] = {}
    if "input_ids" in taken:
        positions = getattr(text, "max_position_embeddings", lengths.seq)
        if lengths.seq > positions:
            raise RefusedError(f"{lengths.seq} tokens, but a table of {positions} positions")
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if "pixel_values" in taken:
        side = vision.image_size
        height, width = side if isinstance(side, (list, tuple)) else (side, side)
        made["pixel_values"] = torch.zeros(lengths.batch, getattr(vision, "num_channels", 3), height, width)
    return made
