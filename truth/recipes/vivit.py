"""Random configs and inputs of ViViT and VideoMAE: clips of few frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw cubes that fit into the video, and some that leave a rest."""
    raw["num_frames"] = rng.randint(2, 9)
    if raw["model_type"] == "vivit":
        cube = raw["tubelet_size"] = [rng.randint(1, 2), rng.randint(2, 5), rng.randint(2, 5)]
        sides = [cube[1] * rng.randint(1, 4) + rng.randint(0, 1), cube[2] * rng.randint(1, 4)]
        return raw | {"image_size": sides if rng.random() < 0.5 else max(sides)}
    raw["tubelet_size"] = rng.randint(1, 2)
    heads = raw["decoder_num_attention_heads"] = rng.choice((1, 2, 3))
    return raw | {"decoder_hidden_size": heads * rng.choice((4, 8))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a clip of the config's own length and size."""
    config = model.config
    height, width = (config.image_size,) * 2 if isinstance(config.image_size, int) else config.image_size
    frames = import_module("torch").zeros(lengths.batch, config.num_frames, config.num_channels, height, width)
    return {"pixel_values": frames}
