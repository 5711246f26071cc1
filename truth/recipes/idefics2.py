"""Random configs and inputs of Idefics 2: images of an example together, and states for the learned vectors alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Put the token of images inside the vocabulary."""
    return raw | {"image_token_id": 5} if raw["model_type"] == "idefics2" else raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images, or states and their mask."""
    torch = import_module("torch")
    if hasattr(model.config, "resampler_depth"):
        context = torch.zeros(lengths.batch, lengths.seq, model.config.hidden_size)
        return {"context": context, "attention_mask": torch.ones(lengths.batch, lengths.seq, dtype=torch.bool)}
    if not hasattr(model.config, "vision_config"):
        side = model.config.image_size
        return {"pixel_values": torch.ones(lengths.batch, model.config.num_channels, side, side)}
    if lengths.images is None:
        return seen.inputs(model, lengths)
    pixels = seen.pixels(model, lengths.batch * lengths.images)
    return seen.inputs(model, lengths, {"pixel_values": pixels.view(lengths.batch, lengths.images, *pixels.shape[1:])})
