"""Switch Transformers' random configs: experts in all layers, in some, in none."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how many layers have experts, and how many tokens they take: never fewer than come, since it would then be up to the data."""
    raw |= {"num_layers": rng.randint(1, 5), "num_decoder_layers": rng.randint(1, 5), "expert_capacity": rng.choice((16, 40))}
    return raw | {"num_sparse_encoder_layers": rng.randint(0, 4), "num_sparse_decoder_layers": rng.randint(0, 4)}
