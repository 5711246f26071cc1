"""Random configs and inputs of SegGPT: where the two maps are added, and an image with its mask beside one without."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an even number of rows, and layers that are used behind the merge."""
    layers = raw["num_hidden_layers"] = rng.randint(2, 5)
    raw["merge_index"] = merged = rng.randrange(layers)
    raw["intermediate_hidden_state_indices"] = sorted(rng.sample(range(merged, layers), rng.randint(1, layers - merged)))
    patch = raw["patch_size"] = rng.choice((2, 4))
    raw["image_size"] = [2 * patch * rng.randint(1, 3), patch * rng.randint(1, 4)]
    return raw | {"pretrain_image_size": patch * rng.randint(1, 4), "decoder_hidden_size": rng.randint(2, 9), "num_channels": 3}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make an image, an image to learn from, and its mask, each half as high as what the model sees."""
    height, width = model.config.image_size
    names = ("pixel_values", "prompt_pixel_values", "prompt_masks")
    return {name: import_module("torch").zeros(lengths.batch, 3, height // 2, width) for name in names}
