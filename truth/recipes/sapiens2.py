"""Random configs and inputs of Sapiens2: heads of keys and values by layer, and the rotation of vectors that are patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads that divide the queries' heads, for the middle layers or for each."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    heads = raw["num_attention_heads"] = rng.choice((2, 4, 6))
    raw |= {"hidden_size": heads * rng.choice((4, 8, 12)), "num_key_value_attention_heads": rng.choice((1, 2, heads))}
    raw |= {"num_first_full_attention_layers": rng.randint(0, 3), "num_last_full_attention_layers": rng.randint(0, 3)}
    if rng.random() < 0.3:
        raw["num_key_value_heads_per_layer"] = [rng.choice((1, 2, heads)) for _ in range(layers)]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images, or vectors for an encoder."""
    made = plain(model, lengths)
    if type(model).__name__ == "Sapiens2Encoder":
        torch = import_module("torch")
        width = model.config.hidden_size // model.config.num_attention_heads
        made["position_embeddings"] = (torch.zeros(lengths.seq - 1, width), torch.zeros(lengths.seq - 1, width))
    return made
