"""Random configs and inputs of HyperCLOVA X Vision 2: as Qwen2.5-VL's."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import qwen_vl

inputs, passes = qwen_vl.inputs, qwen_vl.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Give images a word of the vocabulary, and the tower the name that published configs give it."""
    vision = raw.get("vision_config")
    if vision is not None and rng.random() < 0.3:
        vision["model_type"] = "qwen2_5_vl"
    return raw | {"image_token_id": 5, "video_token_id": 6}
