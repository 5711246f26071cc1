"""Moonshine's random configs, inputs and passes: waves that are long enough for its convolutions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let heads of keys and values be as many as of queries, without which it does not run, in most draws."""
    if rng.random() < 0.7:
        raw.pop("encoder_num_key_value_heads", None), raw.pop("decoder_num_key_value_heads", None)
    if rng.random() < 0.5:
        raw["pad_head_dim_to_multiple_of"] = rng.choice((None, 3, 8))
    return raw | {"pad_token_id": 0}


def passes(model: Any) -> list[Pass]:
    """List passes over longer waves."""
    return [] if type(model).__name__.endswith("Decoder") else [Pass(1, 3000, 7), Pass(2, 5431, 4)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a wave, and tokens for the decoder."""
    torch = import_module("torch")
    if type(model).__name__.endswith("Decoder"):
        return {"input_ids": torch.zeros(lengths.batch, lengths.seq, dtype=torch.long)}
    return plain(model, lengths)
