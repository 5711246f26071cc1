"""Random configs and inputs of Segment Anything on videos: one width for the maps, the prompts, the decoder and the memory."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import sam2, sam3, sam3_vit


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw encoders that fit the decoder, and a memory of any sizes."""
    if raw["model_type"] == "sam3_video":
        detector = {"model_type": "sam3", "vision_config": small(rng)}
        return raw | {"detector_config": sam3.draw(rng, detector), "tracker_config": draw(rng, {"model_type": "sam3_tracker_video"})}
    if raw["model_type"].startswith("sam3"):
        raw["vision_config"] = small(rng)
        width, heads = raw["vision_config"]["fpn_hidden_size"], rng.choice((1, 2))
        inner = raw["vision_config"]["backbone_config"]
        sides = {"image_size": inner["image_size"], "patch_size": inner["patch_size"]}
        raw["prompt_encoder_config"] = {"hidden_size": width, "mask_input_channels": rng.randint(4, 19), **sides}
        raw["mask_decoder_config"] = {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": rng.randint(2, 4)}
        raw["mask_decoder_config"] |= {"attention_downsample_rate": rng.choice((1, 2)), "iou_head_depth": rng.randint(2, 5)}
    else:
        raw = sam2.draw(rng, raw)
    if raw["model_type"] == "sam3_tracker":
        return raw
    heads, rate = rng.choice((1, 2)), rng.choice((1, 2))
    raw |= {"memory_attention_hidden_size": 8 * heads * rate * rng.randint(1, 4), "memory_attention_num_attention_heads": heads}
    raw |= {"memory_attention_downsample_rate": rate, "mask_downsampler_stride": rng.choice((2, 2, 3, 4))}
    return raw | {"mask_downsampler_total_stride": rng.choice((4, 8, 16, 64)), "memory_encoder_output_channels": 2 * rng.randint(1, 20)}


def small(rng: random.Random) -> dict[str, Any]:
    """Draw the image encoder of Segment Anything 3 with maps of four scales."""
    vision = sam3_vit.draw(rng, {"model_type": "sam3_vision_model"})
    inner = vision["backbone_config"]
    inner["image_size"] = inner["patch_size"] * 2 * rng.randint(2, 4)
    places = inner["image_size"] // inner["patch_size"]
    maps = [[places * scale] * 2 for scale in (4, 2, 1)]
    return vision | {"scale_factors": [4.0, 2.0, 1.0, 0.5], "fpn_hidden_size": 16 * rng.randint(1, 3), "backbone_feature_sizes": maps}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images; a video is followed in a session."""
    inner = model.config.vision_config.backbone_config if hasattr(model.config, "vision_config") else None
    if inner is None or "Video" in type(model).__name__:
        raise RefusedError("a video is followed in a session")
    side = inner.image_size
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, height, width)}
