"""Phi-4 Multimodal: speech whose frames are halved, and inputs of its towers."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how often frames are halved, and one width wherever the convolutions of a layer meet its states."""
    speech = raw if raw["model_type"] == "phi4_multimodal_audio" else raw.get("audio_config")
    if speech is not None:
        speech["time_reduction"] = rng.choice((2, 4, 6, 8))
        if rng.random() < 0.7 and "hidden_size" in speech:
            speech["ext_pw_out_channel"] = speech["depthwise_separable_out_channel"] = speech["hidden_size"]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make frames, a picture, or tokens."""
    torch, config = import_module("torch"), model.config
    if config.model_type == "phi4_multimodal_audio":
        return {"hidden_states": torch.zeros(lengths.batch, lengths.seq, config.input_size), "mask": None}
    if config.model_type == "phi4_multimodal_vision":
        return {"pixel_values": torch.zeros(lengths.batch, config.num_channels, config.image_size, config.image_size)}
    return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
