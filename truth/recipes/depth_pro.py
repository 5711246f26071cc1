"""Depth Pro: small transformers with images of one side, and lists of one length."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw scales, maps and transformers that fit."""
    scales, hooks, patch = rng.randint(1, 3), rng.randint(1, 3), rng.choice((2, 4))
    raw |= {
        "patch_size": patch * rng.randint(2, 5),
        "fusion_hidden_size": rng.choice((8, 12, 16)),
        "num_fov_head_layers": rng.randint(0, 2),
    }
    for word in ("image", "patch", "fov"):
        heads = rng.choice((1, 2))
        inner = {**raw.get(f"{word}_model_config", {}), "patch_size": patch, "hidden_size": heads * 8, "num_attention_heads": heads}
        raw[f"{word}_model_config"] = inner | {
            "model_type": "dinov2",
            "num_hidden_layers": rng.randint(1, 3),
            "image_size": raw["patch_size"],
        }
    raw |= {
        "scaled_images_ratios": sorted(rng.choice((0.25, 0.5, 1)) for _ in range(scales)),
        "scaled_images_overlap_ratios": [0.25] * scales,
    }
    raw |= {"scaled_images_feature_dims": [rng.randint(3, 9) for _ in range(scales)], "intermediate_hook_ids": list(range(hooks))}
    return raw | {
        "intermediate_feature_dims": [rng.choice((8, 12, 5)) for _ in range(hooks)],
        "use_bias_in_fusion_residual": rng.random() < 0.5,
    }
