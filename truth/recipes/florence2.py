"""Random configs and inputs of Florence-2: stages of every kind, texts as wide as what the image becomes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images, seen
from truth.forward import Pass, plain

SIDE = 224
"""Places along a side of an image, which no config states."""


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one entry for every stage, and fit the two sides."""
    if raw["model_type"] == "florence_vision":
        count = rng.randint(1, 4)
        heads = [rng.choice((1, 2, 3)) for _ in range(count)]
        groups = [rng.choice((1, 2, 4)) for _ in range(count)]
        raw |= {
            "embed_dim": [12 * rng.randint(1, 3) for _ in range(count)],
            "num_heads": heads,
            "num_groups": groups,
            "depths": images.stages(rng, count, count),
            "patch_size": [rng.choice((3, 5, 7)) for _ in range(count)],
            "patch_stride": [rng.choice((4, 7)), *(rng.choice((1, 2, 4)) for _ in range(count - 1))],
            "patch_padding": [rng.choice((0, 1, 3)) for _ in range(count)],
            "patch_prenorm": [rng.random() < 0.5 for _ in range(count)],
            "window_size": rng.choice((2, 3, 7, 12)),
            "mlp_ratio": rng.choice((0.5, 2.0, 4.0)),
        }
        return raw
    vision, text = raw.get("vision_config"), raw.get("text_config")
    if vision is not None:
        vision["max_position_embeddings"] = 230
        if text is not None and "d_model" in text:
            vision["projection_dim"] = text["d_model"]
    if text is not None:
        text["max_position_embeddings"] = 4000
    return raw | {"image_token_id": 5}


def passes(model: Any) -> list[Pass]:
    """List passes with images, which may take up a great many tokens."""
    if not hasattr(model, "get_image_features"):
        return []
    vision, side = model.config.vision_config, SIDE
    for kernel, stride, padding in zip(vision.patch_size, vision.patch_stride, vision.patch_padding, strict=False):
        side = (side + 2 * padding - kernel) // stride + 1
    each = side * side + 1
    return [Pass(1, each + 4, 7, images=1), Pass(2, 2 * each + 5, 4, images=2)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens for both sides, and images of 224 places along a side."""
    if not hasattr(model.config, "vision_config"):
        return {"hidden_states": _pixels(model, lengths.batch)}
    image = None if lengths.images is None else {"pixel_values": _pixels(model, lengths.batch * lengths.images)}
    both = plain(model, lengths) if image is None else seen.inputs(model, lengths, image)
    torch = import_module("torch")
    return both | {"decoder_input_ids": torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3)}


def _pixels(model: Any, count: int) -> Any:
    torch = import_module("torch")
    vision = getattr(model.config, "vision_config", model.config)
    return torch.ones(count, vision.in_channels, SIDE, SIDE)
