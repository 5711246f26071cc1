"""Conformers' random configs: wav2vec 2.0's, with positions of every kind."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import wav2vec2


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an odd kernel and the kind of positions."""
    raw = wav2vec2.draw(rng, raw) | {"conv_depthwise_kernel_size": rng.choice((3, 5, 7)), "vocab_size": rng.randint(20, 40)}
    if rng.random() < 0.8:
        raw["position_embeddings_type"] = rng.choice(("relative", "rotary", None))
    return raw
