"""TextNet's random configs and inputs: kernels and strides of every layer."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw four stages, some of them as wide as the one before."""
    depths = [rng.randint(1, 3) for _ in range(4)]
    widths = [rng.choice((6, 6, 9, 12)) for _ in range(5)]
    raw |= {
        "hidden_sizes": widths,
        "stem_out_channels": widths[0],
        "stem_stride": rng.randint(1, 2),
        "stem_kernel_size": rng.choice((1, 3, 5)),
    }
    raw["conv_layer_kernel_sizes"] = [[[rng.choice((1, 3)), rng.choice((1, 3))] for _ in range(depth)] for depth in depths]
    raw["conv_layer_strides"] = [[rng.randint(1, 2) for _ in range(depth)] for depth in depths]
    return raw | {"image_size": images.picture(rng), "stem_num_channels": rng.randint(1, 4)} | images.outputs(rng, 4)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures with the channels of the stem."""
    side = model.config.image_size
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return {"pixel_values": import_module("torch").zeros(lengths.batch, model.config.stem_num_channels, height, width)}
