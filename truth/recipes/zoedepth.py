"""ZoeDepth: DPT's draws, ranges of depth, and what moves their bins."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import depth_anything
from truth.recipes.depth_anything import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone with four maps, a head for one range of depth or for two."""
    raw |= {**depth_anything.pyramid(rng, 4), "num_attractors": [rng.randint(1, 9) for _ in range(4)]}
    inner = raw.setdefault("backbone_config", {})
    inner["model_type"] = rng.choice(("beit", "dinov2"))
    depth_anything.backbone(rng, inner, 4)
    raw |= {
        "readout_type": rng.choice(("project", "project", "project", "add", "ignore")),
        "bin_centers_type": rng.choice(("softplus", "normed")),
    }
    ranges = [{"name": name, "n_bins": rng.randint(4, 40), "min_depth": 0.001, "max_depth": 10.0} for name in ("nyu", "kitti")]
    raw["bin_configurations"] = rng.choice((None, ranges[:1], ranges))
    if rng.random() < 0.7:
        raw["bottleneck_features"] = raw["fusion_hidden_size"] = rng.choice((8, 16, 24))
    heads = rng.choice((1, 2, 4))
    raw |= {"patch_transformer_num_attention_heads": heads, "patch_transformer_hidden_size": rng.choice((128, heads * 6))}
    return raw | {"num_patch_transformer_layers": rng.randint(1, 5), "patch_transformer_intermediate_size": rng.randint(5, 30)}
