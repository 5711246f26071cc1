"""Random configs and inputs of X-CLIP: a video for each text."""

from __future__ import annotations

import random
from math import lcm
from typing import Any

from truth.recipes import clip_towers
from truth.recipes.clip import draw as older


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw frames, and widths that fit the heads."""
    vision = raw.get("vision_config", raw if raw["model_type"] == "xclip_vision_model" else None)
    if vision is not None:
        vision["num_frames"] = rng.randint(1, 5)
        heads = vision["mit_num_attention_heads"] = rng.choice((1, 2, 3))
        if vision is raw:
            raw["mit_hidden_size"] = heads * rng.randint(2, 9)
        else:
            raw["prompt_num_attention_heads"] = rng.choice((1, 2, 4))
            raw["projection_dim"] = vision["mit_hidden_size"] = lcm(heads, raw["prompt_num_attention_heads"]) * rng.randint(2, 5)
    return older(rng, raw) if raw["model_type"] == "xclip" and rng.random() < 0.2 else raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a text and the frames of a video for each example."""
    made = clip_towers.inputs(model, lengths)
    if "pixel_values" in made:
        frames = getattr(model.config, "vision_config", model.config).num_frames
        images = made["pixel_values"].repeat_interleave(frames, 0)
        made["pixel_values"] = images if "input_ids" not in made else images.view(lengths.batch, frames, *images.shape[1:])
    return made
