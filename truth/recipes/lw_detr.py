"""Random configs and inputs of LW-DETR: a small transformer, and maps of every scale."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import lw_detr_vit


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw scales and widths; now and then the transformer is wide."""
    heads = rng.choice((1, 2, 4))
    inner = raw["backbone_config"] = lw_detr_vit.draw(rng, raw.get("backbone_config", {}))
    inner |= {"num_attention_heads": 2, "hidden_size": 520 if rng.random() < 0.1 else 8 * rng.randint(1, 4)}
    raw |= {"d_model": 4 * heads * rng.randint(1, 4), "decoder_cross_attention_heads": heads, "num_queries": rng.randint(2, 8)}
    raw["projector_scale_factors"] = [rng.choice((0.5, 1.0, 2.0)) for _ in range(rng.randint(1, 3))]
    return raw | {"hidden_expansion": rng.choice((0.25, 0.5, 1.0)), "group_detr": rng.randint(1, 3)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    if type(model).__name__.endswith("Decoder"):
        raise RefusedError("places to look at are not made here")
    inner = model.config.backbone_config
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, inner.image_size, inner.image_size)}
