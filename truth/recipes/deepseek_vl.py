"""Random configs and inputs of DeepSeek-VL and LFM2-VL: the tokens that stand for images."""

from __future__ import annotations

import random
from typing import Any

from truth import seen
from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Put the token of images inside the vocabulary."""
    return raw | {"image_token_id": 5}


def passes(model: Any) -> list[Pass]:
    """List passes with images, where their patches are told."""
    return seen.passes(model) if model.config.model_type == "deepseek_vl" else []


inputs = seen.inputs
