"""Random configs of Moshi and CSM's decoder: an even inner width, and more codebooks than the tokens of a pass."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if raw["model_type"] == "moshi":
        raw["ffn_dim"] = 2 * rng.randint(2, 30)
        return raw
    raw["num_codebooks"] = rng.randint(17, 24)
    raw.pop("tie_word_embeddings", None)
    return raw
