"""Random configs and inputs of V-JEPA 2: short clips, and heads wide enough for rotations along three axes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw clips, also some shorter than a cube, and ratios of widths."""
    patch = raw["patch_size"] = rng.randint(2, 5)
    raw |= {"crop_size": patch * rng.randint(1, 3) + rng.randint(0, 1), "tubelet_size": rng.randint(1, 3)}
    raw |= {"frames_per_clip": rng.randint(1, 7), "num_pooler_layers": rng.randint(0, 3)}
    raw |= {"mlp_ratio": rng.choice((1.0, 2.5, 4)), "pred_mlp_ratio": rng.choice((1.0, 2.5, 4))}
    for prefix in ("", "pred_"):
        heads = raw[f"{prefix}num_attention_heads"] = rng.randint(1, 3)
        raw[f"{prefix}hidden_size"] = heads * rng.choice((6, 8, 12))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a clip of the config's own length and size."""
    config = model.config
    shape = (lengths.batch, config.frames_per_clip, config.in_chans, config.crop_size, config.crop_size)
    return {"pixel_values_videos": import_module("torch").zeros(*shape)}
