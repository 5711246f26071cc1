"""Random configs and inputs of GLM's towers: as Qwen-VL's, with images of their own size for positions."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl

inputs, passes = qwen_vl.inputs, qwen_vl.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what Qwen-VL has, and what spans two fields."""
    if raw["model_type"].endswith("_text"):
        raw.setdefault("num_attention_heads", 4)
        raw.setdefault("hidden_size", 32)
    raw = qwen_vl.draw(rng, raw)
    if raw["model_type"].endswith("_vision"):
        raw["image_size"] = raw["patch_size"] * rng.randint(2, 4)
    if raw["model_type"] == "glm4v_moe_text":
        raw |= {"n_group": 1, "topk_group": 1, "first_k_dense_replace": rng.randint(0, 3)}
        raw["rope_parameters"]["partial_rotary_factor"] = 1.0
    return raw
