"""Random configs and inputs of LLaVA's kin: layers that exist, images cut as the config's grid says."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen
from truth.forward import Pass
from truth.live import RefusedError

CUT = ("llava_next", "llava_next_video", "llava_onevision")


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Pick layers of the tower, one or several, and the tokens that stand for images."""
    vision = raw.get("vision_config")
    if vision is not None:
        vision.setdefault("num_hidden_layers", 2)
        layers = vision["num_hidden_layers"]
        raw["vision_feature_layer"] = rng.choice((-1, layers, [-1, 0], [-1, 0, layers]))
        if raw["model_type"] != "vipllava":
            raw["vision_feature_select_strategy"] = rng.choice(("default", "full"))
        if raw["model_type"] in CUT:
            side = vision.setdefault("image_size", 8)
            raw["image_grid_pinpoints"] = [[2 * side, side]]
    if raw["model_type"] == "llava_next_video":
        raw["spatial_pool_mode"] = rng.choice(("average", "max", "conv"))
    return (
        raw
        | {"image_token_index": 5}
        | ({"video_token_index": 6} if "video" in raw["model_type"] or "onevision" in raw["model_type"] else {})
    )


def passes(model: Any) -> list[Pass]:
    """List passes with images; one that is cut in two makes three."""
    if model.config.model_type not in CUT:
        return seen.passes(model)
    return [Pass(1, 2 * seen.ROOM, images=3)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images, whole or cut."""
    torch = import_module("torch")
    if lengths.images is None or model.config.model_type not in CUT:
        return seen.inputs(model, lengths, _video(model, lengths))
    if lengths.images % 3:
        raise RefusedError("an image and its two halves are three")
    side = model.config.vision_config.image_size
    pixels = seen.pixels(model, lengths.batch * lengths.images)
    pixels = pixels.view(lengths.batch * lengths.images // 3, 3, *pixels.shape[1:])
    return seen.inputs(model, lengths, {"pixel_values": pixels, "image_sizes": torch.tensor([[2 * side, side]] * len(pixels))})


def _video(model: Any, lengths: Any) -> dict[str, Any] | None:
    """Return images under the name that Video-LLaVA gives them."""
    if model.config.model_type != "video_llava" or lengths.images is None:
        return None
    return {"pixel_values_images": seen.pixels(model, lengths.batch * lengths.images)}
