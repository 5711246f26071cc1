"""Granite Speech 5's random configs and inputs: layers that halve, and groups of four mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if raw["model_type"].endswith("_ctc"):
        vocab = rng.randint(20, 60)
        return raw | {"vocab_size": vocab, "pad_token_id": 0, "encoder_config": {**(raw.get("encoder_config") or {}), "vocab_size": vocab}}
    raw |= {"context_size": rng.randint(3, 9), "max_position_embeddings": rng.randint(9, 20), "conv_kernel_size": rng.choice((3, 5, 7))}
    if rng.random() < 0.7:
        raw["subsample_layers"] = rng.choice(([], [0], [1], [0, 2]))
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make groups of frames."""
    config = getattr(model.config, "encoder_config", model.config)
    return {"input_features": import_module("torch").zeros(lengths.batch, lengths.seq, 4 * config.num_mel_bins)}
