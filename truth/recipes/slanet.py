"""Random configs of SLANet and SLANeXt: a network of few blocks, an encoder whose patches fill the image."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import pp_lcnet, sam_vision


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what sees the table."""
    if raw["model_type"] == "slanext_vision":
        return _encoder(rng, raw)
    if raw["model_type"] == "slanext":
        raw["vision_config"] = _encoder(rng, raw.get("vision_config", {}))
        raw["post_conv_in_channels"] = raw["vision_config"]["output_channels"] = rng.randint(2, 12)
        return raw
    raw.pop("backbone_config", None)
    if rng.random() < 0.8:
        own = pp_lcnet.draw(rng, {"model_type": rng.choice(("pp_lcnet", "pp_lcnet_v3"))})
        for key in ("image_size", "out_indices", "out_features"):
            own.pop(key, None)
        raw["backbone_config"] = own | {"out_features": ["stage2", "stage3", "stage4", "stage5"]}
    return raw | {
        "csp_num_blocks": rng.randint(0, 3),
        "csp_kernel_size": rng.choice((1, 3, 5)),
        "post_conv_out_channels": rng.randint(2, 20),
    }


def _encoder(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    raw = sam_vision.draw(rng, raw)
    raw.pop("mlp_ratio", None)
    return raw | {"image_size": raw["image_size"] // raw["patch_size"] * raw["patch_size"]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make an image for SLANeXt's encoder; a table's structure is as long as the image says."""
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    kind = type(model).__name__
    if kind not in ("SLANeXtVisionEncoder", "SLANeXtBackbone"):
        raise RefusedError("a table is as large, and its structure as long, as its image says")
    picture = torch.zeros(lengths.batch, vision.num_channels, vision.image_size, vision.image_size)
    return {"pixel_values" if kind == "SLANeXtVisionEncoder" else "hidden_states": picture}
