"""Random configs and inputs of PP-DocLayoutV2: those of RT-DETR, heads of the order that divide, pictures."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError
from truth.recipes import rt_detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    order = raw.pop("reading_order_config", None) or {}
    raw = rt_detr.draw(rng, raw)
    heads = rng.choice((1, 2, 4))
    order |= {"num_attention_heads": heads, "hidden_size": heads * rng.randint(2, 6), "num_hidden_layers": rng.randint(1, 3)}
    order |= {"coordinate_size": rng.randint(2, 9), "shape_size": rng.randint(2, 9), "vocab_size": 4 + rng.randint(0, 9)}
    return raw | {"reading_order_config": order}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or the maps that the encoder takes alone."""
    if type(model).__name__.endswith("ObjectDetection"):
        raise RefusedError("how many boxes are put in order, the image says")
    made: dict[str, Any] = rt_detr.inputs(model, lengths)
    return made
