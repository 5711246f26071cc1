"""DINOv3 ConvNeXt's random configs and inputs: those of ConvNeXt, but that its encoder takes pictures."""

from __future__ import annotations

from typing import Any

from truth import images
from truth.recipes.convnext import draw

__all__ = ["draw", "inputs"]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, under the name that each class calls them by."""
    made = images.pictures(model, lengths)
    return {"hidden_states": made["pixel_values"]} if type(model).__name__.endswith("Encoder") else made
