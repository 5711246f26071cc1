"""The pyramids' random configs: every list of stages, on images that halve without remainder and on others."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of stages; PVT's kernels and strides are alike but for one config in ten."""
    depths = images.stages(rng, 1, 4)
    count, kind = len(depths), raw["model_type"]
    heads = [rng.choice((1, 2, 3)) for _ in depths]
    raw |= {"depths": depths, "num_encoder_blocks": count, "num_attention_heads": heads, "mlp_ratios": [rng.randint(1, 4) for _ in depths]}
    raw["hidden_sizes"] = [number * rng.randint(3, 8) for number in heads]
    raw["sequence_reduction_ratios" if kind == "pvt" else "sr_ratios"] = [
        *(rng.randint(1, 3) for _ in depths[1:]),
        rng.choice((1, 1, 1, 2)),
    ]
    if kind == "pvt":
        patches = [rng.choice((4, 4, 4, 2)), *(2 for _ in depths[1:])]
        strides = patches if rng.random() < 0.9 else [rng.randint(1, 2) for _ in depths]
        return raw | {"patch_sizes": patches, "strides": strides, "image_size": rng.choice((64, 64, 70))}
    raw |= {"patch_sizes": [rng.choice((3, 5, 7)) for _ in depths], "strides": [rng.randint(1, 2) for _ in depths]}
    if kind == "glpn":
        raw |= {"decoder_hidden_size": rng.choice((raw["hidden_sizes"][0], 8, 11)), "head_in_index": rng.choice((-1, -1, 0))}
        raw["strides"] = [rng.randint(1, 2), *(2 for _ in depths[1:])] if rng.random() < 0.8 else raw["strides"]
        return raw | {"image_size": rng.choice((32, 64, [64, 48], 50))}
    return raw | {"image_size": images.picture(rng)}
