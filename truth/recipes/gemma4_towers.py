"""Random configs and inputs of Gemma 4's towers: as of the whole."""

from truth.recipes.gemma4_vl import draw, inputs, passes

__all__ = ["draw", "inputs", "passes"]
