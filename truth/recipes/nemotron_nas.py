"""Random configs of Llama-Nemotron: what the search left of each layer."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one entry a layer: attention of some groups, one matrix or none; a feed-forward network of some width, or none."""
    layers, heads = rng.randint(1, 4), rng.choice((2, 4, 6))
    attended = ({"n_heads_in_group": 1}, {"n_heads_in_group": 2}, {"no_op": True}, {"replace_with_linear": True})
    ffn = ({"ffn_mult": 1.3125}, {"ffn_mult": 0.5}, {"no_op": True})
    blocks = [{"attention": dict(rng.choice(attended)), "ffn": dict(rng.choice(ffn))} for _ in range(layers)]
    raw.pop("head_dim", None)
    return raw | {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": heads * 8, "block_configs": blocks}
