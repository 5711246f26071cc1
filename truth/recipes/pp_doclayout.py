"""Random configs and inputs of PP-DocLayoutV3: those of RT-DETR, and one map more for masks."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import rt_detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone that hands on one map more than the encoder reads."""
    raw = rt_detr.draw(rng, raw)
    inner = raw["backbone_config"]
    indices, widths = inner["out_indices"], inner["hidden_sizes"]
    inner["out_indices"] = [indices[0] - 1, *indices]
    raw |= {"x4_feat_dim": widths[0] if rng.random() < 0.9 else 7, "mask_feature_channels": [rng.randint(4, 9), rng.randint(4, 9)]}
    raw["learn_initial_query"] = rng.random() < 0.2
    return raw | {"image_size": rng.choice((64, 128, [64, 128], 64, 90)), "num_queries": rng.randint(2, 5)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or the maps that the encoder takes alone."""
    made = rt_detr.inputs(model, lengths)
    if type(model).__name__.endswith("Encoder"):
        config = model.config
        base = min(range(len(config.feat_strides)), key=lambda index: config.feat_strides[index])
        height, width = made["inputs_embeds"][base].shape[-2:]
        made["x4_feat"] = [import_module("torch").zeros(lengths.batch, config.x4_feat_dim, 2 * height, 2 * width)]
    return made
