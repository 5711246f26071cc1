"""Random configs and inputs of GLM-OCR: as GLM-4.1V's."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl

inputs, passes = qwen_vl.inputs, qwen_vl.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what Qwen-VL has."""
    if raw["model_type"] == "glm_ocr_text":
        raw.setdefault("num_attention_heads", 4)
        raw.setdefault("hidden_size", 32)
        return _sections(rng, raw)
    return qwen_vl.draw(rng, raw)


def _sections(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    half = (raw.get("head_dim") or raw["hidden_size"] // raw["num_attention_heads"]) // 2
    first = rng.randint(1, max(1, half // 2))
    sections = [half - 2 * (first // 2), first // 2, first // 2]
    return raw | {
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": sections, "partial_rotary_factor": 1.0}
    }
