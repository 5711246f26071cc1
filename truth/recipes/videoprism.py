"""Random configs and inputs of VideoPrism: cubes that fit into a clip."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw clips of whole cubes, and some images that leave a rest."""
    if raw["model_type"] == "videoprism":
        raw["vision_config"] = draw(rng, {**raw.get("vision_config", {}), "model_type": "videoprism_vision_model"})
        text = raw.setdefault("text_config", {})
        if rng.random() < 0.8 and "hidden_size" in raw["vision_config"]:
            text |= {"hidden_size": raw["vision_config"]["hidden_size"], "num_attention_heads": 1}
        return raw
    if raw["model_type"] == "videoprism_text_model":
        return raw
    cube = raw["tubelet_size"] = [rng.choice((1, 1, 2)), rng.randint(2, 5), rng.randint(2, 5)]
    raw["num_frames"] = cube[0] * rng.randint(1, 4)
    sides = [cube[1] * rng.randint(1, 4) + rng.randint(0, 1), cube[2] * rng.randint(1, 4)]
    raw["num_auxiliary_layers"] = rng.randint(0, 2)
    return raw | {"image_size": sides if rng.random() < 0.6 else max(sides)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a clip of the config's own length and size."""
    torch, config = import_module("torch"), model.config
    words = {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
    if config.model_type == "videoprism_text_model":
        return words
    if config.model_type == "videoprism":
        return words | inputs(model.video_model, lengths)
    height, width = (config.image_size,) * 2 if isinstance(config.image_size, int) else config.image_size
    frames = torch.zeros(lengths.batch, config.num_frames, config.num_channels, height, width)
    return {"pixel_values_videos": frames}
