"""Random configs and inputs of the Audio Spectrogram Transformer."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw frames, bins and patches that fit."""
    raw |= {"patch_size": rng.randint(2, 8), "max_length": rng.randint(12, 80), "num_mel_bins": rng.randint(9, 30)}
    return raw | {"frequency_stride": rng.randint(1, 8), "time_stride": rng.randint(1, 8)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames, as many as the table of positions was made for."""
    return {"input_values": import_module("torch").zeros(lengths.batch, model.config.max_length, model.config.num_mel_bins)}
