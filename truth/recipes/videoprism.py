"""Random configs and inputs of VideoPrism: cubes that fit into a clip."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw clips of whole cubes, and some images that leave a rest."""
    cube = raw["tubelet_size"] = [rng.choice((1, 1, 2)), rng.randint(2, 5), rng.randint(2, 5)]
    raw["num_frames"] = cube[0] * rng.randint(1, 4)
    sides = [cube[1] * rng.randint(1, 4) + rng.randint(0, 1), cube[2] * rng.randint(1, 4)]
    raw["num_auxiliary_layers"] = rng.randint(0, 2)
    return raw | {"image_size": sides if rng.random() < 0.6 else max(sides)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a clip of the config's own length and size."""
    config = model.config
    height, width = (config.image_size,) * 2 if isinstance(config.image_size, int) else config.image_size
    frames = import_module("torch").zeros(lengths.batch, config.num_frames, config.num_channels, height, width)
    return {"pixel_values_videos": frames}
