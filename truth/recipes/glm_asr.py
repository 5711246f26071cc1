"""Random configs and inputs of language models that hear through encoders of their own: mel frames, or tokens."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an encoder's even width."""
    if raw["model_type"] == "qwen3_asr_encoder":
        raw["d_model"] = 2 * 12 * rng.choice((1, 2))
        raw.pop("hidden_size", None)
        raw["encoder_attention_heads"] = rng.choice((1, 2, 3))
        raw.pop("num_attention_heads", None)
    if raw["model_type"] == "musicflamingo" and isinstance(raw.get("audio_config"), dict):
        raw["audio_config"]["model_type"] = "audioflamingo3_encoder"
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make mel frames, or tokens."""
    if model.config.model_type == "qwen3_asr_encoder":
        raise RefusedError("it takes windows")
    if not type(model).__name__.endswith("Encoder"):
        return plain(model, lengths)
    return {"input_features": import_module("torch").zeros(lengths.batch, model.config.num_mel_bins, lengths.seq)}
