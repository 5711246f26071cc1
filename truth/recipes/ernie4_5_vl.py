"""Random configs of ERNIE's text tower and of the one that sees: kinds of layers, two widths of experts, patches of images."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists."""
    if not raw["model_type"].endswith("_text"):
        return raw if raw["model_type"].endswith("_vision") else raw | {"image_token_id": 5}
    half = rng.choice((4, 8))
    raw["head_dim"] = 2 * half
    raw["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [half // 2 - 1, half // 2 - 1, 2]}
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    raw["moe_num_shared_experts"] = rng.randint(0, 2)
    if rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if rng.random() < 0.8:
        raw["moe_intermediate_size"] = [rng.randint(3, 40), rng.randint(3, 40)]
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with images of the tower alone."""
    return patched_inputs.passes(model, 2) if hasattr(model.config, "depth") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, or patches."""
    torch = import_module("torch")
    if not hasattr(model.config, "depth"):
        if lengths.images is not None:
            raise RefusedError("images are not told apart from text")
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    width = model.config.in_channels * model.config.patch_size**2
    return {"hidden_states": torch.zeros(len(shapes) * lengths.patches[0] * lengths.patches[1], width), "grid_thw": shapes}
