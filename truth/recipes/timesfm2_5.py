"""TimesFM 2.5's random configs and inputs: whole patches of a series."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let the patches fill what is looked back at."""
    raw["patch_length"] = rng.choice((1, 1, 4, 7))
    raw["context_length"] = raw["patch_length"] * rng.randint(2, 6)
    if rng.random() < 0.6:
        raw["quantiles"] = [0.1, 0.5, 0.9][: rng.randint(1, 3)]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make series of some steps; to predict, a list of them."""
    torch, shape = import_module("torch"), (lengths.batch, lengths.seq)
    if type(model).__name__ == "TimesFm2_5ModelForPrediction":
        return {"past_values": [torch.rand(lengths.seq) for _ in range(lengths.batch)]}
    return {"past_values": torch.rand(shape), "past_values_padding": torch.zeros(shape)}
