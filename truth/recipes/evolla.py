"""Random configs of Evolla: a small SaProt, heads that divide, any number of layers that look at the protein."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    heads = rng.choice((1, 2, 4))
    raw |= {"num_attention_heads": heads, "hidden_size": heads * 2 * rng.randint(1, 6), "num_key_value_heads": rng.choice((1, heads))}
    raw |= {"num_hidden_layers": rng.randint(1, 9), "aligner_num_add_layers": rng.randint(1, 5)}
    own = {"num_attention_heads": heads, "hidden_size": heads * 2 * rng.randint(1, 6), "num_hidden_layers": rng.randint(1, 3)}
    own |= {"vocab_size": rng.randint(20, 60), "intermediate_size": rng.randint(4, 30), "emb_layer_norm_before": rng.random() < 0.5}
    return raw | {"protein_encoder_config": own}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, without a protein."""
    return {"input_ids": import_module("torch").ones(lengths.batch, lengths.seq, dtype=int)}
