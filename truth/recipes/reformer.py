"""Reformer's random configs: axes whose widths make the hidden size, and layers of both kinds."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the axes and the layers."""
    kinds = rng.choice((("local",), ("lsh",), ("local", "lsh"), ("local", "lsh")))
    raw["attn_layers"] = [rng.choice(kinds) for _ in range(rng.randint(1, 4))]
    widths = [rng.randint(2, 20) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.8:
        raw |= {"hidden_size": sum(widths), "axial_pos_embds_dim": widths, "axial_pos_shape": [rng.randint(2, 9) for _ in widths]}
    else:
        raw["axial_pos_embds"] = False
    if rng.random() < 0.7:
        raw |= {"num_hashes": rng.randint(1, 3), "lsh_attn_chunk_length": rng.choice((4, 6, 16)), "num_buckets": 4}
        raw["local_attn_chunk_length"] = rng.choice((4, 8, 12))
    return raw | {"is_decoder": rng.random() < 0.5}  # each language model is built of one of the two
