"""Random configs and inputs of EXAONE 4.5: as Qwen2.5-VL's, with heads that share keys."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl

inputs, passes = qwen_vl.inputs, qwen_vl.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what Qwen2.5-VL has."""
    name = raw["model_type"]
    raw["model_type"] = name.replace("exaone4_5", "qwen2_5_vl")
    if name == "exaone4_5_vision":
        heads = raw.setdefault("num_heads", 4)
        raw["num_key_value_heads"] = rng.choice([number for number in range(1, heads + 1) if heads % number == 0])
        raw.setdefault("hidden_size", 12 * heads)
        return qwen_vl.draw(rng, raw) | {"model_type": name}
    vision, text = raw.get("vision_config"), raw.get("text_config")
    if vision is not None and text is not None:
        vision["out_hidden_size"] = text.setdefault("hidden_size", 16 * text.get("num_attention_heads", 8))
    return raw | {"model_type": name, "image_token_id": 5, "video_token_id": 6}
