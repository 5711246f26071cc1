"""T5Gemma's random configs: two sides of different sizes, or the encoder alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep both sides in more than half of the draws, as most classes need them; a side alone may know the width that it attends to."""
    if raw["model_type"] == "t5_gemma_module":
        raw.pop("is_encoder_decoder", None)
        return raw | {"dropout_rate": 0.0, "cross_attention_hidden_size": rng.choice((raw.get("hidden_size", 2304), 24))}
    raw.pop("is_encoder_decoder", None)
    if rng.random() < 0.4:
        raw["is_encoder_decoder"] = False
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with states from elsewhere for a decoder alone."""
    return [Pass(1, 8, None, 6), Pass(2, 5, None, 9)] if type(model).__name__.endswith("Decoder") else []


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make tokens, and for a decoder alone the states that it attends to."""
    if lengths.encoder_seq is None:
        return plain(model, lengths)
    torch, config = import_module("torch"), model.config
    width = getattr(config, "cross_attention_hidden_size", None) if config.model_type == "t5_gemma_module" else config.hidden_size
    tokens = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    return {"input_ids": tokens, "encoder_hidden_states": torch.zeros(lengths.batch, lengths.encoder_seq, width)}
