"""GLPN's random configs: those of the pyramids."""

from __future__ import annotations

from truth.recipes.pvt import draw

__all__ = ["draw"]
