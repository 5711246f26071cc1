"""Random configs and inputs of TimeSformer: clips of few frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a kind of attention."""
    raw["num_frames"] = rng.randint(1, 6)
    return raw | {"attention_type": rng.choice(("divided_space_time", "joint_space_time", "space_only"))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a clip of the config's own length and size."""
    config = model.config
    height, width = (config.image_size,) * 2 if isinstance(config.image_size, int) else config.image_size
    frames = import_module("torch").zeros(lengths.batch, config.num_frames, config.num_channels, height, width)
    return {"pixel_values": frames}
