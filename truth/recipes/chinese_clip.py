"""Inputs of two towers and what they hold beside."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes.clip import draw as older
from truth.recipes.clip_towers import inputs

__all__ = ["draw", "inputs"]


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the older layout now and then."""
    return older(rng, raw)
