"""Random configs and inputs of UperNet: a backbone of three or four maps, and an auxiliary head that mostly fits its map."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from truth.recipes import maskformer


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw sizes to pool to, and how deep the auxiliary head is."""
    inner = raw["backbone_config"] = maskformer.backbone(rng, raw)
    if rng.random() < 0.4:
        inner = {"model_type": "convnext", "depths": [1, 2, 1, 1], "hidden_sizes": [8, 12, 16, 20], "out_indices": [1, 2, 3, 4]}
        raw["backbone_config"] = inner
    if rng.random() < 0.8 and len(inner["out_indices"]) < 3:
        inner["out_indices"] = [2, 3, 4]
    raw |= {"pool_scales": [rng.randint(1, 4) for _ in range(rng.randint(1, 4))], "hidden_size": rng.randint(4, 24)}
    raw |= {"auxiliary_num_convs": rng.randint(0, 3), "auxiliary_channels": rng.randint(4, 20)}
    return raw | ({"auxiliary_in_channels": 16} if rng.random() < 0.3 else {})


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    model.config.image_size = getattr(model.config, "image_size", 512)
    return images.pictures(model, lengths)
