"""TVP: pictures with a frame around them, and a video with a sentence."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a frame that leaves a picture, and a backbone."""
    side = raw["max_img_size"] = rng.choice((64, 96, 128))
    raw |= {"visual_prompt_size": rng.randint(1, side // 2), "num_frames": rng.randint(1, 4), "pad_token_id": 0}
    raw |= {"visual_prompter_apply": rng.choice(("add", "replace", "remove")), "max_position_embeddings": rng.randint(40, 90)}
    inner = raw.setdefault("backbone_config", {"model_type": "resnet", "depths": [1, 2], "hidden_sizes": [8, 12]})
    inner.setdefault("model_type", "resnet")
    if rng.random() < 0.6:
        inner.pop("out_features", None)
        inner.pop("out_indices", None)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a video and words."""
    torch, config = import_module("torch"), model.config
    video = torch.zeros(lengths.batch, config.num_frames, 3, config.max_img_size, config.max_img_size)
    words = torch.ones(lengths.batch, lengths.seq, dtype=torch.long)
    return {"input_ids": words, "pixel_values": video, "attention_mask": torch.ones_like(words)}
