"""GLM-Image: images of any size by their patches, rotary sections that fill a head."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw images of whole patches, and heads that positions along three axes fill."""
    vision = raw if raw["model_type"] == "glm_image_vision" else raw.get("vision_config")
    if vision is not None:
        vision["patch_size"] = rng.randint(2, 5)
        heads = vision["num_heads"] = rng.choice((1, 2, 4))
        vision |= {"image_size": vision["patch_size"] * rng.randint(2, 5), "hidden_size": heads * rng.choice((4, 8, 16))}
    text = raw.get("text_config")
    if text is not None:
        heads = text["num_attention_heads"] = rng.choice((2, 4))
        text |= {
            "hidden_size": heads * 16,
            "num_key_value_heads": rng.choice((1, 2)),
            "vision_vocab_size": rng.randint(9, 60),
            "pad_token_id": 0,
        }
        text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2], "partial_rotary_factor": 1.0}
        text.pop("head_dim", None)
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with an image, of even and of uneven shapes."""
    return [Pass(1, 16, patches=(4, 6)), Pass(1, 16, patches=(3, 5))] if model.config.model_type == "glm_image_vision" else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, or the patches of an image."""
    torch, config = import_module("torch"), model.config
    if config.model_type != "glm_image_vision":
        return plain(model, lengths)
    if lengths.patches is None:
        raise RefusedError("an image of any size is told by its patches")
    rows, columns = lengths.patches
    pixels = torch.zeros(lengths.batch * rows * columns, config.in_channels * config.patch_size**2)
    return {"pixel_values": pixels, "grid_thw": torch.tensor([[1, rows, columns]] * lengths.batch)}
