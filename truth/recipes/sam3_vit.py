"""Random configs and inputs of Segment Anything 3's image encoder: windows that need not fill the map."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw windows, images and scales; of the encoder with maps, the scales and the encoder inside."""
    if raw["model_type"] == "sam3_vision_model":
        raw["backbone_config"] = draw(rng, {"model_type": "sam3_vit_model"})
        raw["scale_factors"] = [rng.choice((4.0, 2.0, 1.0, 0.5)) for _ in range(rng.randint(1, 4))]
        return raw | {"fpn_hidden_size": 4 * rng.randint(1, 5)}
    heads, patch, layers = rng.choice((1, 2)), rng.choice((2, 4)), rng.randint(1, 4)
    raw |= {"hidden_size": 8 * heads * rng.randint(1, 3), "num_attention_heads": heads, "num_hidden_layers": layers}
    raw |= {"patch_size": patch, "image_size": patch * rng.randint(3, 8), "pretrain_image_size": patch * rng.randint(2, 4)}
    raw |= {"window_size": rng.randint(2, 4), "intermediate_size": rng.randint(4, 40)}
    return raw | {"global_attn_indexes": sorted(rng.sample(range(layers), rng.randint(0, layers)))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    inner = getattr(model.config, "backbone_config", model.config)
    side = inner.image_size
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, height, width)}
