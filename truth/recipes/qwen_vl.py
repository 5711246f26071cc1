"""Random configs and inputs of Qwen-VL: towers as wide as their text, rotary sections that fill a head, images of several shapes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError
from truth.recipes.cohere import compass_positions

DEEP = ("qwen3_vl_vision", "qwen3_vl_moe_vision", "cohere_compass_vision")


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Fit the two towers to each other, and their lists to their layers."""
    if raw["model_type"].endswith("_vision"):
        return _tower(rng, raw)
    if raw["model_type"].endswith("_text"):
        return _text(rng, raw)
    if raw["model_type"] == "cohere_compass":
        raw.setdefault("text_config", {}).setdefault("rope_parameters", compass_positions(rng))
    vision, text = raw.get("vision_config"), raw.get("text_config")
    if vision is not None and text is not None:
        out = "hidden_size" if raw["model_type"] == "qwen2_vl" else "out_hidden_size"
        vision[out] = text.setdefault("hidden_size", 16 * text.get("num_attention_heads", 8))
    raw |= {"image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 7, "vision_end_token_id": 8}
    if text is not None and raw["model_type"] in ("qwen2_vl", "qwen2_5_vl") and rng.random() < 0.3:  # as older configs have it
        del raw["text_config"]
        text.pop("model_type", None)
        raw = {**text, **raw}
    return raw


def _tower(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    layers = raw.get("depth", 8)
    raw["patch_size"] = rng.randint(2, 5)
    raw["spatial_merge_size"] = rng.choice((1, 2, 3))
    if raw["model_type"] == "qwen2_5_vl_vision":
        raw["window_size"] = raw["patch_size"] * raw["spatial_merge_size"] * rng.randint(1, 3)
        raw["fullatt_block_indexes"] = sorted(rng.sample(range(layers + 1), rng.randint(0, layers)))
    if raw["model_type"].startswith(("qwen3", "qwen4", "cohere_compass")):
        raw["num_position_embeddings"] = rng.choice((9, 16, 25))
    if "deepstack_visual_indexes" in raw or (rng.random() < 0.8 and raw["model_type"] in DEEP):
        raw["deepstack_visual_indexes"] = sorted(rng.sample(range(layers + 2), rng.randint(0, layers)))
    return raw


def _text(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    heads = raw.get("num_attention_heads", 64)
    width = (
        raw.get("head_dim", 128) if raw["model_type"] == "qwen3_vl_text" else raw.get("head_dim") or raw.get("hidden_size", 8192) // heads
    )
    half = width // 2
    first = rng.randint(1, max(1, half // 2))
    raw["rope_parameters"] = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": [half - 2 * (first // 2), first // 2, first // 2],
    }
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with images, of even and of uneven shapes."""
    vision = getattr(model.config, "vision_config", model.config)
    merge: Any = getattr(vision, "spatial_merge_size", None)
    if merge is None:
        return []
    shapes = ((4 * merge, 2 * merge), (3 * merge, 5 * merge))
    if vision is model.config:
        return [Pass(1, 16, patches=shape) for shape in shapes]
    return [Pass(batch, batch * 10 + 20, images=batch, patches=shape) for batch, shape in enumerate(shapes, 1)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and for images their patches, shapes and places."""
    torch = import_module("torch")
    vision = getattr(model.config, "vision_config", model.config)
    merge: Any = getattr(vision, "spatial_merge_size", None)
    if merge is not None and vision is model.config:
        if lengths.patches is None:
            raise RefusedError("an image of any size is told by its patches")
        return _image(torch, vision, lengths.batch, lengths.patches, "hidden_states", "grid_thw")
    tokens = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if lengths.images is None:
        return {"input_ids": tokens}
    each = lengths.patches[0] * lengths.patches[1] // merge**2
    if lengths.images * (each + 1) > lengths.seq:
        raise RefusedError("no room for the images")
    for image in range(lengths.images):
        start = 1 + image * (each + 1)
        tokens[:, start : start + each] = model.config.image_token_id
    made = _image(torch, vision, lengths.batch * lengths.images, lengths.patches, "pixel_values", "image_grid_thw")
    return made | {"input_ids": tokens, "mm_token_type_ids": (tokens == model.config.image_token_id).int()}


def _image(torch: Any, vision: Any, count: int, shape: tuple[int, int], pixels: str, grid: str) -> dict[str, Any]:
    width = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    return {pixels: torch.zeros(count * shape[0] * shape[1], width), grid: torch.tensor([[1, *shape]] * count)}
