"""NLLB-MoE's random configs: experts in all layers, in some, in none."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw every how many layers there are experts."""
    return raw | {"encoder_sparse_step": rng.randint(0, 3), "decoder_sparse_step": rng.randint(0, 3)}
