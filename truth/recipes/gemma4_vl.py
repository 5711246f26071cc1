"""Random configs and inputs of Gemma 4 that sees and hears: towers or none, images as patches with their places."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw towers or none, and what the convolutions of sound are like."""
    name = raw["model_type"]
    if name == "gemma4_audio":
        return raw | {"subsampling_conv_channels": [4 * rng.randint(1, 6), rng.randint(1, 9)], "attention_context_left": rng.randint(1, 9)}
    if name == "gemma4_vision":
        if rng.random() < 0.9:  # no field of the tower, and yet read where it is stated
            raw.pop("output_proj_dims", None)
        return raw | {"head_dim": rng.choice((4, 8, 12)), "pooling_kernel_size": rng.choice((1, 2, 3)), "position_embedding_size": 40}
    for key in ("vision_config", "audio_config"):
        if rng.random() < 0.3:
            raw.pop(key, None)
        elif rng.random() < 0.1:
            raw[key] = {}
    text = raw.get("text_config")
    if name == "gemma4_unified" and raw.get("vision_config"):
        raw["vision_config"] |= {"output_proj_dims": raw["vision_config"].get("mm_embed_dim", 3840), "mm_posemb_size": 60}
    if text is not None:
        text |= {"pad_token_id": 0, "use_bidirectional_attention": None}
    return raw | {"image_token_id": 5, "video_token_id": 6, "audio_token_id": 7}


def passes(model: Any) -> list[Pass]:
    """List passes with images, where there is anything that sees."""
    config = getattr(model.config, "vision_config", model.config)
    if not hasattr(config, "pooling_kernel_size"):
        return []
    unified = model.config.model_type == "gemma4_unified"
    return patched_inputs.passes(model, 1 if unified else config.pooling_kernel_size)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, patches with their places, or frames of sound."""
    torch, config = import_module("torch"), model.config
    if config.model_type == "gemma4_audio":
        return {"input_features": torch.zeros(lengths.batch, lengths.seq, config.subsampling_conv_channels[0])}
    if lengths.images is None and hasattr(config, "text_config"):
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    vision, whole = getattr(config, "vision_config", config), hasattr(config, "text_config")
    count = len(patched_inputs.grid(lengths))
    rows, columns = lengths.patches
    unified = config.model_type == "gemma4_unified"
    side = vision.patch_size * (vision.pooling_kernel_size if unified else 1)
    places = torch.tensor([[column, row] for row in range(rows) for column in range(columns)]).expand(count, -1, -1)
    pixels = torch.zeros(count, rows * columns, 3 * side**2)
    if not whole:
        return {"pixel_values": pixels, "pixel_position_ids": places}
    return patched_inputs.tokens(model, lengths, 1 if unified else vision.pooling_kernel_size) | {
        "pixel_values": pixels,
        "image_position_ids": places,
    }
