"""Random configs of PaddleOCR's readers: a backbone of their type, heads that divide, and kernels along the line."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError
from truth.recipes import hgnet_v2, pp_lcnet

BACKBONES = {
    "pp_ocrv5_mobile_rec": "pp_lcnet_v3",
    "pp_ocrv5_server_rec": "hgnet_v2",
    "pp_ocrv6_small_rec": "pp_lcnet_v4",
    "pp_ocrv6_tiny_rec": "pp_lcnet_v4",
}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    kind = BACKBONES[raw["model_type"]]
    raw.pop("backbone_config", None)
    if rng.random() < 0.8:
        own = hgnet_v2.draw(rng, {"model_type": kind}) if kind == "hgnet_v2" else pp_lcnet.draw(rng, {"model_type": kind})
        own.pop("image_size", None)
        raw["backbone_config"] = own
    if raw["model_type"] != "pp_ocrv6_tiny_rec":
        heads = rng.choice((1, 2, 4))
        raw |= {"num_attention_heads": heads, "hidden_size": heads * rng.randint(2, 10), "conv_kernel_size": [1, rng.choice((1, 3, 5))]}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: a line is as long as its image."""
    raise RefusedError("a line of text is as long as its image")
