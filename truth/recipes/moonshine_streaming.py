"""Moonshine Streaming's random configs, inputs and passes: short frames, and waves of whole ones."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the frame, and a window for each layer."""
    if raw["model_type"].endswith("_encoder"):
        raw |= {"sample_rate": 1000 * rng.randint(1, 4), "frame_ms": rng.choice((5.0, 2.4, 10))}
        return raw | {"sliding_windows": [[16, 4]] * raw.get("num_hidden_layers", 6)}
    if rng.random() < 0.5:
        raw["pad_head_dim_to_multiple_of"] = rng.choice((None, 3, 8))
    raw.setdefault("num_key_value_heads", raw.get("num_attention_heads", 8))  # without which the decoder does not build
    return raw | {"pad_token_id": 0}


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make a wave of whole frames, and tokens."""
    torch = import_module("torch")
    encoder = getattr(model.config, "encoder_config", model.config)
    frame = round(encoder.sample_rate * encoder.frame_ms / 1000)
    wave = {"input_values": torch.zeros(lengths.batch, lengths.seq // frame * frame)}
    if encoder is model.config:
        return wave
    ahead = torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3, dtype=torch.long)
    return wave | {"decoder_input_ids": ahead}


def passes(model: Any) -> list[Pass]:
    """List passes over longer waves."""
    return [Pass(1, 700, 7), Pass(2, 1531, 4)]
