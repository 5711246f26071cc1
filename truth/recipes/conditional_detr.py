"""Conditional DETR's random configs and inputs: those of DETR."""

from __future__ import annotations

from truth.recipes.detr import draw, inputs

__all__ = ["draw", "inputs"]
