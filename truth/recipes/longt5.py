"""LongT5's random configs: T5's, with local and transient-global attention."""

from __future__ import annotations

from truth.recipes.t5 import draw

__all__ = ["draw"]
