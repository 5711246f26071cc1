"""Random configs and inputs of language models that hear: mel frames, twice as many as the encoder has positions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lengths and widths that fit each other, and the token that stands for sound."""
    if raw["model_type"].endswith("_encoder"):
        raw["max_source_positions"] = 2 * rng.randint(2, 10)
        raw["intermediate_size"] = 2 * raw.setdefault("hidden_size", 20 * raw.get("num_attention_heads", 20))
        return raw
    return raw | {"audio_token_id": 5}


def passes(model: Any) -> list[Pass]:
    """List passes with sound, where its length is told."""
    return [Pass(1, 30, audios=1), Pass(2, 40, audios=3)] if model.config.model_type == "voxtral" else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, or mel frames, or both."""
    torch = import_module("torch")
    audio = getattr(model.config, "audio_config", model.config)
    if audio is model.config:
        frames = 2 * audio.max_source_positions
        marks = {"input_features_mask": torch.ones(lengths.batch, frames)} if audio.model_type == "audioflamingo3_encoder" else {}
        return marks | {"input_features": torch.zeros(lengths.batch, audio.num_mel_bins, frames)}
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    if lengths.encoder_seq is not None or lengths.audios is None:
        return made
    each = lengths.audios * audio.max_source_positions * audio.hidden_size // audio.intermediate_size
    if each > lengths.seq:
        raise RefusedError("no room for the sound")
    made["input_ids"][:, :each] = model.config.audio_token_id
    features = torch.zeros(lengths.batch * lengths.audios, audio.num_mel_bins, 2 * audio.max_source_positions)
    return made | {"input_features": features}
