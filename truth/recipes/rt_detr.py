"""RT-DETR's random configs and inputs: a backbone with maps that join, and maps for the encoder alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone of three or four stages, all or most of which are handed on, and widths that are mostly the encoder's."""
    heads, levels = rng.choice((1, 2, 4)), rng.randint(2, 3)
    raw["encoder_hidden_dim"] = 4 * heads * rng.randint(1, 4)
    raw |= {"encoder_attention_heads": heads, "encoder_layers": rng.randint(0, 2), "num_queries": rng.randint(2, 9)}
    widths = [8, *(4 * rng.randint(2, 6) for _ in range(levels))]
    inner: dict[str, Any] = {
        "model_type": rng.choice(("rt_detr_resnet", "resnet")),
        "depths": [rng.randint(1, 2) for _ in widths],
        "hidden_sizes": widths,
    }
    inner |= {"embedding_size": 8, "layer_type": rng.choice(("basic", "bottleneck")), "out_indices": list(range(2, levels + 2))}
    raw |= {"backbone_config": inner, "encoder_in_channels": widths[1:], "feat_strides": [8 * 2**index for index in range(levels)]}
    wide = raw["encoder_hidden_dim"] if rng.random() < 0.9 else 12
    raw |= {"decoder_in_channels": [wide] * levels, "num_feature_levels": levels, "encode_proj_layers": [levels - 1]}
    if raw["model_type"] == "rt_detr_v2":
        raw["decoder_n_levels"] = levels
    raw |= {"hidden_expansion": rng.choice((0.5, 1.0, 1.5)), "num_denoising": rng.choice((0, 10))}
    return raw | {"image_size": rng.choice((64, 128, [64, 128], 90))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or the maps that the encoder takes alone."""
    config = model.config
    if type(model).__name__.endswith("Decoder"):
        raise RefusedError("places to look at are not made here")
    if not type(model).__name__.endswith("Encoder"):
        config.image_size = getattr(config, "image_size", 640)
        return images.pictures(model, lengths)
    side, zeros = getattr(config, "image_size", 640), import_module("torch").zeros
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    shapes = [(-(-height // stride), -(-width // stride)) for stride in config.feat_strides]
    return {"inputs_embeds": [zeros(lengths.batch, config.encoder_hidden_dim, *shape) for shape in shapes]}
