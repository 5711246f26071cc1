"""Random configs and inputs of Mask2Former: a backbone of three or four maps, and channels that 32 groups divide."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import maskformer
from truth.recipes.maskformer import inputs


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw maps and strides, and one width for all of the decoder, at times that of the maps."""
    raw |= {"backbone_config": maskformer.backbone(rng, raw)}
    inner, heads = raw["backbone_config"], rng.choice((1, 2, 4))
    if inner["model_type"] == "resnet" and rng.random() < 0.9:
        inner["out_indices"] = list(range(rng.randint(1, 2), 5))
    raw |= {"feature_size": 32 * rng.randint(1, 2), "num_attention_heads": heads, "decoder_layers": rng.randint(2, 6)}
    raw |= {"hidden_dim": raw["feature_size"] if rng.random() < 0.4 else 4 * heads * rng.randint(1, 4)}
    raw |= {"feature_strides": rng.choice(([4, 8, 16, 32], [8, 16, 32])), "common_stride": rng.choice((2, 4, 4, 8))}
    return raw


__all__ = ["draw", "inputs"]
