"""What the random configs of image networks share."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def picture(rng: random.Random, low: int = 33, high: int = 90) -> int | list[int]:
    """Draw the side of an image, or its height and width."""
    return rng.randint(low, high) if rng.random() < 0.5 else [rng.randint(low, high), rng.randint(low, high)]


def stages(rng: random.Random, low: int = 1, high: int = 5) -> list[int]:
    """Draw how many layers each stage has."""
    return [rng.randint(1, 3) for _ in range(rng.randint(low, high))]


def widths(rng: random.Random, count: int, multiple: int = 1) -> list[int]:
    """Draw the widths of stages."""
    return [multiple * rng.randint(4, 20) for _ in range(count)]


def outputs(rng: random.Random, count: int) -> dict[str, Any]:
    """Draw which stages a backbone hands on, by names or by indices, or nothing."""
    if rng.random() < 0.4:
        return {}
    chosen = sorted(rng.sample(range(count + 1), rng.randint(1, count + 1)))
    names = ["stem", *(f"stage{index + 1}" for index in range(count))]
    return {"out_features": [names[index] for index in chosen]} if rng.random() < 0.5 else {"out_indices": chosen}


def pictures(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures of the side that stands in a config, with the channels that its backbone reads."""
    config = model.config
    side = getattr(config, "image_size", 224)
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    channels = getattr(getattr(config, "backbone_config", None) or config, "num_channels", 3)
    return {"pixel_values": import_module("torch").zeros(lengths.batch, channels, height, width)}
