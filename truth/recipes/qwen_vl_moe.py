"""Random configs and inputs of the later Qwen-VL: those of the earlier, and layers with experts."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl

inputs, passes = qwen_vl.inputs, qwen_vl.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the earlier ones have, and which layers have experts."""
    raw = qwen_vl.draw(rng, raw)
    if raw["model_type"] == "qwen3_vl_moe_text" and rng.random() < 0.6:
        raw["decoder_sparse_step"] = rng.randint(1, 3)
        raw["mlp_only_layers"] = [index for index in range(raw.get("num_hidden_layers", 24)) if rng.random() < 0.3]
    return raw
