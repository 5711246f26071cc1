"""Autoformer's random configs and inputs: those of all transformers over time series."""

from __future__ import annotations

from truth.recipes.time_series_transformer import draw, inputs

__all__ = ["draw", "inputs"]
