"""Random configs and inputs of towers whose patches are put side by side: grids that squares fill."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen

passes = seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a grid that squares of patches fill, and the rest that spans two configs."""
    kind = raw["model_type"]
    if kind == "internvl_vision":
        raw["norm_type"] = rng.choice(("layer_norm", "rms_norm"))
        if rng.random() < 0.7:
            raw["patch_size"] = [patch := rng.choice((2, 3)), patch + rng.choice((0, 1))]
            raw["image_size"] = [raw["patch_size"][0] * 4, raw["patch_size"][1] * 4]
    if kind.endswith("_vision") and kind not in ("aya_vision", "cohere2_vision"):
        return raw
    vision = raw.get("vision_config")
    factor = rng.choice((1, 2, 4))
    if kind == "internvl":
        raw["downsample_ratio"] = 1 / factor
        raw["vision_feature_select_strategy"] = rng.choice(("default", "default", "full"))
    else:
        raw["scale_factor" if kind in ("idefics3", "smolvlm") else "downsample_factor"] = factor
        raw |= {"alignment_intermediate_size": 2 * rng.randint(2, 20)} if kind.endswith("vision") and rng.random() < 0.8 else {}
    if kind == "aya_vision":
        raw["vision_feature_select_strategy"] = "full"
    if vision is not None and kind != "internvl":
        vision["patch_size"] = rng.choice((2, 3))
        vision["image_size"] = vision["patch_size"] * factor * rng.choice((1, 2))
    return raw | {"image_token_id": 5} | ({"image_token_index": 5} if kind == "aya_vision" else {})


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images; Idefics 3 takes those of an example together."""
    if not hasattr(model.config, "vision_config"):
        made = import_module("torch").ones(lengths.batch, model.config.num_channels, *_both(model.config.image_size))
        return {"pixel_values": made}
    image: dict[str, Any] | None = None
    if lengths.images is not None and model.config.model_type in ("idefics3", "smolvlm"):
        pixels = seen.pixels(model, lengths.batch * lengths.images)
        image = {"pixel_values": pixels.view(lengths.batch, lengths.images, *pixels.shape[1:])}
    return seen.inputs(model, lengths, image)


def _both(side: Any) -> tuple[int, int]:
    return tuple(side) if isinstance(side, (list, tuple)) else (side, side)
