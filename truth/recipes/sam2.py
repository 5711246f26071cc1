"""Random configs and inputs of Segment Anything 2: an encoder whose maps halve, and prompts and a decoder of one width."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import sam2_vision


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one width for all, and images whose maps halve three times."""
    heads, rate = rng.choice((1, 2)), rng.choice((1, 2, 4))
    width = 16 * heads * rng.randint(1, 2)
    vision = sam2_vision.draw(rng, raw.get("vision_config", {}) | {"model_type": "sam2_vision_model"})
    inner, across = vision["backbone_config"], rng.randint(1, 3)
    side = 16 * across
    inner["image_size"] = [side, side]
    levels = min(3, len(inner["blocks_per_stage"])) if rng.random() < 0.9 else 2  # the decoder enlarges the third map to the first
    maps = [[side // 2 ** (level + 1)] * 2 for level in range(levels)]
    vision |= {"fpn_hidden_size": width, "fpn_kernel_size": 1, "fpn_padding": 0, "fpn_stride": 1}
    vision |= {"num_feature_levels": levels, "backbone_feature_sizes": maps}
    raw["vision_config"] = vision
    prompts, decoder = raw.setdefault("prompt_encoder_config", {}), raw.setdefault("mask_decoder_config", {})
    prompts |= {"hidden_size": width, "patch_size": 2**levels, "image_size": side, "mask_input_channels": rng.randint(4, 19)}
    decoder |= {"hidden_size": width, "num_attention_heads": heads, "attention_downsample_rate": rate}
    decoder |= {"num_hidden_layers": rng.randint(2, 4), "iou_head_depth": rng.randint(2, 5)}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images of the encoder's own size."""
    inner = model.config.vision_config.backbone_config
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, *inner.image_size)}
