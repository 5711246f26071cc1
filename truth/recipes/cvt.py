"""CvT's random configs: every list of stages."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of stages; queries are mostly as many as places, class tokens mostly in the last stage."""
    depths = [depth + index for index, depth in enumerate(images.stages(rng, 1, 4))]  # fewer, and the reference finds no rate
    count = len(depths)
    heads, kernels = [rng.choice((1, 2, 3)) for _ in depths], [rng.choice((1, 3, 5)) for _ in depths]
    raw |= {"depth": depths, "num_heads": heads, "embed_dim": [number * rng.randint(2, 6) for number in heads], "kernel_qkv": kernels}
    raw |= {"patch_sizes": [rng.randint(2, 5) for _ in depths], "patch_stride": [rng.randint(1, 3) for _ in depths]}
    raw |= {"patch_padding": [rng.randint(0, 2) for _ in depths], "mlp_ratio": [rng.choice((1.0, 2.5, 4.0)) for _ in depths]}
    raw |= {"qkv_bias": [rng.random() < 0.5 for _ in depths], "stride_q": [1] * count, "padding_q": [kernel // 2 for kernel in kernels]}
    raw |= {"stride_kv": [rng.randint(1, 3) for _ in depths], "padding_kv": [kernel // 2 for kernel in kernels]}
    raw |= {"cls_token": [*(rng.random() < 0.1 for _ in depths[1:]), rng.random() < 0.6], "drop_path_rate": [0.0] * count}
    raw |= {"qkv_projection_method": [rng.choice(("dw_bn",) * 9 + ("avg",)) for _ in depths], "image_size": images.picture(rng)}
    return raw | {"attention_drop_rate": [0.0] * count, "drop_rate": [0.0] * count}
