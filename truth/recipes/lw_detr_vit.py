"""Random configs of LW-DETR's vision transformer: images that windows divide."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw windows, an image of whole windows, and in which layers they are."""
    side, patch, layers = rng.choice((1, 2, 2)), rng.choice((2, 4)), rng.randint(2, 5)
    raw |= {"num_windows": side * side, "patch_size": patch, "image_size": 8 * patch * rng.randint(1, 2), "num_hidden_layers": layers}
    raw |= {"pretrain_image_size": rng.choice((16, 20, 24, [16, 24])), "mlp_ratio": rng.randint(1, 4)}
    raw["window_block_indices"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    raw["out_indices"] = sorted(rng.sample(range(layers + 1), rng.randint(1, layers)))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    if type(model).__name__.endswith("Encoder"):
        raise RefusedError("tokens cut into windows are not made here")
    side, channels = model.config.image_size, model.config.num_channels
    return {"pixel_values": import_module("torch").zeros(lengths.batch, channels, side, side)}
