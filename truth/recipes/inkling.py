"""Random configs of Inkling: kinds of layers by either key, and towers of small patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    kind = raw["model_type"]
    if kind == "inkling_mm_model":
        for key, inner in (("text_config", text), ("vision_config", vision)):
            if key in raw:
                raw[key] = inner(rng, raw[key])
        return raw | {"vision_config": vision(rng, raw.get("vision_config", {}))}
    return text(rng, raw) if kind == "inkling_text" else vision(rng, raw) if kind == "inkling_vision" else raw


def text(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 7)
    raw["num_experts_per_tok"] = rng.randint(1, 3)
    for key in ("dense_mlp_idx", "local_layer_ids"):
        raw.pop(key, None)
    if rng.random() < 0.3:
        raw["layer_types"] = [rng.choice(("hybrid", "hybrid_sliding")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["local_layer_ids"] = rng.sample(range(layers), rng.randint(0, layers))
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    elif rng.random() < 0.5:
        raw["dense_mlp_idx"] = rng.randint(0, 3)
    if rng.random() < 0.3:
        raw["dense_intermediate_size"] = rng.randint(3, 60)
    return raw


def vision(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw patches whose widest layer is small."""
    patch = rng.choice((2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16))
    return raw | {"patch_size": patch, "temporal_patch_size": rng.choice((1, 2, 2, 3, 4)), "num_hidden_layers": rng.randint(1, 9)}


def passes(model: Any) -> list[Pass]:
    """List passes of the image encoder, each over as many patches as there are images."""
    return [Pass(1, 5, images=1), Pass(1, 5, images=3)] if model.config.model_type == "inkling_vision" else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, or patches of pixels."""
    torch, config = import_module("torch"), model.config
    if config.model_type == "inkling_vision":
        if lengths.images is None:
            raise RefusedError("patches are counted as images")
        shape = lengths.images, config.temporal_patch_size, config.patch_size, config.patch_size, config.num_channels
        return {"pixel_values": torch.zeros(*shape)}
    if config.model_type == "inkling_audio":
        raise RefusedError("frames of codes are no tokens")
    return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
