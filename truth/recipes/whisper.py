"""Whisper's random configs and inputs: mel frames, always twice as many as the encoder has positions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep special tokens inside the vocabulary."""
    return raw | {"pad_token_id": 1, "max_target_positions": rng.randint(24, 60)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames and, for the decoder, tokens."""
    zeros, long = import_module("torch").zeros, import_module("torch").long
    if lengths.encoder_seq is not None:
        raise RefusedError("states to attend to are not made here")
    if type(model).__name__.endswith(("ForCausalLM", "Decoder")):
        return {"input_ids": zeros(lengths.batch, lengths.seq, dtype=long)}
    made = {"input_features": zeros(lengths.batch, model.config.num_mel_bins, 2 * model.config.max_source_positions)}
    if not type(model).__name__.endswith(("Classification", "Encoder")):
        made["decoder_input_ids"] = zeros(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=long)
    return made
