"""Random configs of PaddleOCR's detectors: a backbone of their type that puts out as many maps as there are widths."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError
from truth.recipes import pp_lcnet


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    kind, last = ("pp_lcnet_v3", 5) if raw["model_type"] == "pp_ocrv5_mobile_det" else ("pp_lcnet_v4", 4)
    raw.pop("backbone_config", None)
    if rng.random() < 0.8:
        own = pp_lcnet.draw(rng, {"model_type": kind})
        for key in ("image_size", "out_indices", "out_features"):
            own.pop(key, None)
        raw["backbone_config"] = own | {"out_features": [f"stage{stage}" for stage in range(last - 3, last + 1)]}
    raw |= {"neck_out_channels": 4 * rng.randint(4, 12), "reduction": rng.randint(1, 3), "kernel_list": [3, 2, 2]}
    return raw | {"layer_list_out_channels": [rng.randint(3, 20) for _ in range(4)]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: a page is as large as its image."""
    raise RefusedError("a page is as large as its image")
