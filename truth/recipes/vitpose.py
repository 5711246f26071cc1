"""Random configs and inputs of ViTPose: patches larger than the padding, and the data set of each image."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw patches that padding adds none to, and experts."""
    inner = raw if raw["model_type"] == "vitpose_backbone" else raw.setdefault("backbone_config", {})
    height, width = rng.randint(5, 8), rng.randint(5, 8)
    inner["patch_size"] = [height, width]
    inner["image_size"] = [height * rng.randint(1, 4), width * rng.randint(1, 4)]
    inner["num_experts"] = rng.choice((1, 1, 2, 3))
    inner["part_features"] = rng.randint(1, inner.get("hidden_size", 768) - 1)
    inner.setdefault("model_type", "vitpose_backbone")
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images or vectors, and which data set they are of where experts ask for it."""
    torch = import_module("torch")
    inner = getattr(model.config, "backbone_config", model.config)
    if type(model).__name__ == "VitPoseForPoseEstimation":
        made = {"pixel_values": torch.zeros(lengths.batch, inner.num_channels, *inner.image_size)}
    else:
        made = plain(model, lengths)
    return made | ({"dataset_index": torch.zeros(lengths.batch, dtype=torch.long)} if inner.num_experts > 1 else {})
