"""LightGlue's random configs: as for SuperGlue."""

from __future__ import annotations

from truth.recipes.superglue import draw, inputs

__all__ = ["draw", "inputs"]
