"""Swin V2's random configs: those of Swin."""

from __future__ import annotations

from truth.recipes.swin import draw

__all__ = ["draw"]
