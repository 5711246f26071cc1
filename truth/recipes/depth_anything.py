"""Random configs and inputs of models of depth: a backbone that hands on as many maps as are added up."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

FACTORS = (1, 2, 3, 0.5, 0.25)


def pyramid(rng: random.Random, number: int) -> dict[str, Any]:
    """Draw widths and factors of so many maps."""
    return {
        "neck_hidden_sizes": [rng.randint(3, 9) for _ in range(number)],
        "reassemble_factors": sorted((rng.choice(FACTORS) for _ in range(number)), reverse=True),
        "fusion_hidden_size": rng.randint(2, 24),
        "head_in_index": rng.randint(-number, number - 1),
    }


def backbone(rng: random.Random, inner: dict[str, Any], number: int) -> None:
    """Let a backbone hand on the outputs of some layers, as they are."""
    patch = inner["patch_size"] = rng.choice((2, 3, 4))
    across = rng.randint(2, 5)
    inner["image_size"] = [patch * across, patch * (across if rng.random() < 0.8 else rng.randint(2, 5))]
    layers = inner["num_hidden_layers"] = rng.randint(number, number + 2)
    inner |= {"out_indices": sorted(rng.sample(range(1, layers + 1), number)), "reshape_hidden_states": False}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone and maps that fit."""
    number, inner = rng.randint(2, 4), raw.setdefault("backbone_config", {})
    backbone(rng, inner, number)
    raw |= {"patch_size": inner["patch_size"], **pyramid(rng, number)}
    inner.setdefault("hidden_size", 24)
    inner.setdefault("num_attention_heads", 2)
    if raw["model_type"] == "chmv2":
        inner |= {"reshape_hidden_states": True, "return_class_token": True, "model_type": "dinov3_vit"}
        raw["post_process_channels"] = raw.pop("neck_hidden_sizes")
        raw["readout_type"] = rng.choice(("project", "add", "ignore"))
        raw["norm_strategy"] = rng.choice(("linear", "softmax", "sigmoid", "chmv2_mixlog"))
        raw["number_output_channels"] = rng.choice((1, 5, 9))
        return raw
    inner["model_type"] = "dinov2"
    return raw | {"reassemble_hidden_size": inner["hidden_size"], "depth_estimation_type": rng.choice(("relative", "metric"))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images of the backbone's own size."""
    config = model.config
    inner = getattr(config, "backbone_config", None) or config
    if type(model).__name__ in ("DPTModel", "DPTForSemanticSegmentation"):
        inner = config
    sides = (inner.image_size,) * 2 if isinstance(inner.image_size, int) else inner.image_size
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, *sides)}
