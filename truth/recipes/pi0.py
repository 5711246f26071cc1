"""Random configs of Pi0: an expert of even width, and a vision-language model whose projection fits its text."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError
from truth.recipes import paligemma


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Fit the models to each other."""
    if "vlm_config" in raw:
        raw["vlm_config"] = paligemma.draw(rng, {"model_type": "paligemma", **raw["vlm_config"]})
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: the state, the noise and the pictures of a step are more than a length."""
    raise RefusedError("a step takes a state, noise, pictures and tokens")
