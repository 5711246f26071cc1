"""Random configs and inputs of Qwen3-Omni: those of Qwen2.5-Omni, and layers with experts."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen2_5_omni

inputs, passes = qwen2_5_omni.inputs, qwen2_5_omni.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the earlier one has, and which layers have experts."""
    raw = qwen2_5_omni.draw(rng, raw)
    if raw["model_type"] == "qwen3_omni_moe_text" and rng.random() < 0.6:
        raw["decoder_sparse_step"] = rng.randint(1, 3)
        raw["mlp_only_layers"] = [index for index in range(raw.get("num_hidden_layers", 28)) if rng.random() < 0.3]
    return raw
