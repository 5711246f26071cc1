"""Random configs of Segment Anything: three sub-configs whose widths fit together."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import sam_vision


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one width for prompts, decoder and the encoder's output, and one image."""
    vision, prompts = sam_vision.draw(rng, raw["vision_config"]), raw["prompt_encoder_config"]
    decoder = raw["mask_decoder_config"]
    heads, rate = rng.choice((1, 2, 4)), rng.choice((1, 2, 4))
    decoder["num_attention_heads"] = heads
    width = 16 * heads * rng.randint(1, 2)
    vision |= {"output_channels": width, "num_pos_feats": width // 2}
    prompts |= {"hidden_size": width, "image_size": vision["image_size"], "patch_size": vision["patch_size"]}
    prompts["mask_input_channels"] = rng.randint(4, 19)
    decoder |= {"hidden_size": width, "iou_head_depth": rng.randint(2, 5), "attention_downsample_rate": rate}
    if raw["model_type"] == "sam_hq":
        decoder["vit_dim"] = vision.setdefault("hidden_size", 768)
    return raw
