"""Random configs and inputs of HunyuanOCR: heads of a stated width, pages as patches with a token for each end of a row."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """State the width of a head, which has no default that builds, and now and then the text beside the other fields."""
    name = raw["model_type"]
    if name == "hunyuan_vl_text":
        width = rng.choice((8, 16))
        sections = [width // 8] * 4
        return raw | {"head_dim": width, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": sections}}
    if name == "hunyuan_vl_vision":
        if rng.random() < 0.8:
            raw.pop("head_dim", None)
        patch = raw["patch_size"] = rng.randint(2, 4)
        return raw | {"max_image_size": patch * rng.randint(2, 6) + rng.randint(0, 1), "spatial_merge_size": rng.choice((1, 2, 3))}
    text = raw.setdefault("text_config", {"num_hidden_layers": 2, "vocab_size": 60, **draw(rng, {"model_type": "hunyuan_vl_text"})})
    if rng.random() < 0.3:
        del raw["text_config"]
        raw |= {key: value for key, value in text.items() if key not in ("model_type", "tie_word_embeddings")}
    return raw | {"image_token_id": 5}


def passes(model: Any) -> list[Pass]:
    """List passes with images, where anything sees."""
    if not hasattr(_vision(model), "spatial_merge_size"):
        return []
    merge = _vision(model).spatial_merge_size
    if not hasattr(model.config, "vision_config"):
        return patched_inputs.passes(model, 6)
    shapes = ((4 * merge, 2 * merge), (3 * merge, 5 * merge))
    return [Pass(batch, 30 * batch + 10, images=batch, patches=shape) for batch, shape in enumerate(shapes, 1)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and pages as patches."""
    torch, vision = import_module("torch"), _vision(model)
    whole = vision is not model.config
    made = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if not hasattr(vision, "spatial_merge_size") or (whole and lengths.images is None):
        return {"input_ids": made}
    shapes = patched_inputs.grid(lengths)
    (rows, columns), merge = lengths.patches, vision.spatial_merge_size
    pixels = torch.zeros(len(shapes) * rows * columns, vision.num_channels * vision.patch_size**2)
    if not whole:
        return {"pixel_values": pixels, "grid_thw": shapes}
    each = rows // merge * (columns // merge + 1) + 2
    if lengths.images * (each + 1) >= lengths.seq:
        raise RefusedError("no room for the images")
    for image in range(lengths.images):
        made[:, image * (each + 1) : image * (each + 1) + each] = model.config.image_token_id
    kinds = (made == model.config.image_token_id).int()
    return {"input_ids": made, "mm_token_type_ids": kinds, "pixel_values": pixels, "image_grid_thw": shapes}


def _vision(model: Any) -> Any:
    return getattr(model.config, "vision_config", model.config)
