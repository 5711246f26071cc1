"""Swin's random configs: windows on maps of every side, with and without a table of positions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, windows that fit the smallest map or not, and images of whole patches or not."""
    depths = images.stages(rng, 1, 4)
    heads = [rng.choice((1, 2)) * 2**index for index in range(len(depths))]
    patch, window = rng.randint(2, 4), rng.randint(1, 5)
    sides = [max(1, patch * window * 2 ** (len(depths) - 1) * rng.randint(1, 2) - rng.choice((0, 0, 1, 3))) for _ in range(2)]
    raw |= {"depths": depths, "num_heads": heads, "embed_dim": 4 * rng.randint(1, 6), "window_size": window, "patch_size": patch}
    raw |= {
        "image_size": rng.choice((sides[0], sides)),
        "mlp_ratio": rng.choice((1.0, 1.5, 2.75, 4.0)),
        "encoder_stride": rng.randint(1, 6),
    }
    if raw["model_type"] == "swin":
        raw["grid_size"] = [1, 1]  # of the encoder alone, which keeps it for nothing
    if raw["model_type"] == "swinv2":
        raw["pretrained_window_sizes"] = [rng.choice((0, 4)) for _ in depths]
    if raw["model_type"] == "donut-swin":
        return raw
    return raw | {key: value for key, value in images.outputs(rng, len(depths)).items() if raw["model_type"] != "maskformer-swin"}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or for an encoder alone the vectors of their patches."""
    if type(model).__name__ != "SwinEncoder":
        return images.pictures(model, lengths)
    side, patch = model.config.image_size, model.config.patch_size
    rows, columns = (-(-one // patch) for one in (side if isinstance(side, (list, tuple)) else (side, side)))
    return {
        "hidden_states": import_module("torch").zeros(lengths.batch, rows * columns, model.config.embed_dim),
        "input_dimensions": (rows, columns),
    }
