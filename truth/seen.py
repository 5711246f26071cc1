"""Inputs of language models that see: images of the tower's size, and as many placeholders as they take up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError

ROOM = 120
"""Tokens that are kept for each image, which random towers do not fill."""


def passes(model: Any) -> list[Pass]:
    """List passes with images, where the class takes any."""
    if not hasattr(model, "get_image_features"):
        return []
    return [Pass(1, ROOM + 4, images=1), Pass(2, 2 * ROOM + 5, images=2)]


def pixels(model: Any, count: int) -> Any:
    """Make images of the tower's own size."""
    torch, vision = import_module("torch"), model.config.vision_config
    side = vision.image_size
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return torch.ones(count, getattr(vision, "num_channels", 3), height, width)


def inputs(model: Any, lengths: Any, image: dict[str, Any] | None = None) -> dict[str, Any]:
    """Make tokens and, for the examples' images, pixels; the placeholders are as many as the features turn out to be.

    Args:
        model: A live model.
        lengths: Of the pass.
        image: What ``get_image_features`` takes for all images of the batch, if it is more than pixels.
    """
    torch = import_module("torch")
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    if lengths.encoder_seq is not None or lengths.images is None:
        return made
    image = image or {"pixel_values": pixels(model, lengths.batch * lengths.images)}
    found = model.get_image_features(**image)
    found = next((part for name in ("pooler_output", "last_hidden_state") if (part := getattr(found, name, None)) is not None), found)
    features = found if isinstance(found, torch.Tensor) else torch.cat([part.reshape(-1, part.shape[-1]) for part in found])
    each, rest = divmod(features.numel() // features.shape[-1], lengths.batch)
    if rest or each > lengths.seq:
        raise RefusedError(f"{each} tokens for images do not fit into {lengths.seq}")
    made["input_ids"][:, :each] = model.config.image_token_id
    return made | image
