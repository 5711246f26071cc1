"""Random configs of PaddleOCR's larger detectors: kernels of every convolution of a block, and a backbone of their type."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError
from truth.recipes import hgnet_v2, pp_lcnet

SHAPES = {"vertical_long_to_small_conv": (1, 0), "horizontal_small_to_long_conv": (0, 1), "symmetric_conv_long": (1, 1)}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw kernels, with their strides and paddings, as the published configs list them."""
    raw.pop("backbone_config", None)
    if rng.random() < 0.8:
        kind, recipe = ("hgnet_v2", hgnet_v2) if raw["model_type"] == "pp_ocrv5_server_det" else ("pp_lcnet_v4", pp_lcnet)
        own = recipe.draw(rng, {"model_type": kind})
        raw["backbone_config"] = {key: value for key, value in own.items() if key not in ("image_size", "out_indices", "out_features")}
    kernels: dict[str, Any] = {"reduce_channel": [1, 1, 0], "return_channel": [rng.choice((1, 3)), 1, 0]}
    for ratio in ("longratio", "midratio", "shortratio"):
        for shape, (high, wide) in SHAPES.items():
            side = rng.choice((3, 5, 7))
            kernel = side if high and wide else [side if high else 1, side if wide else 1]
            kernels[f"{shape}_{ratio}"] = [kernel, 1, side // 2 if high and wide else [side // 2 * high, side // 2 * wide]]
    raw |= {"intraclass_block_config": kernels, "kernel_list": [rng.choice((1, 3, 5)), 2, rng.choice((2, 3))]}
    raw |= {"neck_out_channels": 4 * rng.randint(4, 12), "reduce_factor": rng.randint(1, 3), "scale_factor_list": [1, 2, 4, 8]}
    return raw | {"intraclass_block_number": rng.randint(0, 4)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: a page is as large as its image."""
    raise RefusedError("a page is as large as its image")
