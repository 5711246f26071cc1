"""Random configs and inputs of Janus: towers as wide as their text, images that become the codes asked for."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw levels and widths that norms of 32 groups divide, and fit the two sides."""
    if raw["model_type"] == "janus_vqgan":
        raw |= {
            "base_channels": 32 * rng.randint(1, 2),
            "channel_multiplier": [rng.randint(1, 3) for _ in range(rng.randint(1, 3))],
            "num_res_blocks": rng.randint(1, 3),
            "num_patches": rng.randint(2, 5),
        }
    elif raw["model_type"] == "janus_vision_model":
        raw["mlp_ratio"] = rng.choice((0.5, 2.25, 4.0))
    else:
        vision, text = raw.get("vision_config"), raw.get("text_config")
        if vision is not None and text is not None and "hidden_size" in text:
            vision["projection_dim"] = text["hidden_size"]
        raw["image_token_id"] = 5
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with images."""
    return seen.passes(model) if hasattr(model.config, "vision_config") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images; those to be coded are as large as their codes want."""
    torch, config = import_module("torch"), model.config
    if hasattr(config, "vision_config"):
        return seen.inputs(model, lengths)
    coded = hasattr(config, "channel_multiplier")
    side = config.num_patches * 2 ** (len(config.channel_multiplier) - 1) if coded else config.image_size
    return {"pixel_values": torch.ones(lengths.batch, config.in_channels if coded else config.num_channels, side, side)}
