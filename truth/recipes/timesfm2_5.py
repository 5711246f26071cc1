"""TimesFM 2.5's random configs and inputs: whole patches of a series."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from truth.recipes.timesfm import draw

__all__ = ["draw", "inputs"]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make series of some steps; to predict, a list of them."""
    torch, shape = import_module("torch"), (lengths.batch, lengths.seq)
    if type(model).__name__ == "TimesFm2_5ModelForPrediction":
        return {"past_values": [torch.rand(lengths.seq) for _ in range(lengths.batch)]}
    return {"past_values": torch.rand(shape), "past_values_padding": torch.zeros(shape)}
