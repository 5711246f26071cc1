"""Deformable DETR's random configs and inputs: those of DETR, with maps to look at and two stages."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from truth.live import RefusedError
from truth.recipes import detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a width that 32 groups divide, and as many maps as the backbone has, or more."""
    raw = detr.draw(rng, raw)
    raw["backbone_config"] = {"model_type": "resnet", "depths": [1, 1, 1], "hidden_sizes": [8, 12, 16], "embedding_size": 8}
    handed = rng.randint(1, 3)
    raw["backbone_config"]["out_indices"] = list(range(4 - handed, 4))
    heads = rng.choice((1, 2, 4))
    raw |= {"d_model": 32 * rng.randint(1, 2), "encoder_attention_heads": heads, "decoder_attention_heads": 2}
    raw |= {"num_feature_levels": handed + rng.randint(0, 2), "decoder_layers": rng.randint(1, 3), "with_box_refine": rng.random() < 0.6}
    return raw | {"two_stage": raw["with_box_refine"] and rng.random() < 0.5, "two_stage_num_proposals": rng.randint(2, 9)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    if type(model).__name__.endswith(("Encoder", "Decoder")):
        raise RefusedError("places to look at are not made here")
    return images.pictures(model, lengths)
