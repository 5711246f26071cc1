"""Nemotron 3 Diarization: parts that fit each other, and mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one width, one factor and one number of speakers for all parts."""
    audio = raw if raw["model_type"] == "nemotron3_diarization_audio" else raw.setdefault("audio_config", {})
    heads = audio["num_attention_heads"] = rng.choice((1, 2, 4))
    audio |= {"hidden_size": heads * 8, "head_dim": 8, "num_key_value_heads": heads, "subsampling_factor": rng.randint(2, 8)}
    if audio is raw:
        return raw
    speakers, factor = rng.randint(2, 6), audio["subsampling_factor"]
    raw["head_config"] = {"hidden_size": rng.randint(4, 20), "num_speakers": speakers}
    raw["head_config"] |= {"audio_hidden_size": audio["hidden_size"], "subsampling_factor": factor}
    raw["streaming_config"] = {"num_speakers": speakers, "subsampling_factor": factor}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames."""
    audio = getattr(model.config, "audio_config", model.config)
    return {"input_features": import_module("torch").zeros(lengths.batch, lengths.seq, audio.num_mel_bins)}
