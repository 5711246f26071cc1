"""Fast conformers' random configs, inputs and passes: few convolutions, odd kernels, enough mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if not raw["model_type"].endswith("_encoder"):
        raw |= {"durations": [0] * rng.randint(1, 6)} if raw["model_type"] == "parakeet_tdt" and rng.random() < 0.7 else {}
        return raw | {"num_decoder_layers": rng.randint(1, 3), "pad_token_id": 0, "blank_token_id": 1}
    raw |= {"conv_kernel_size": rng.choice((3, 5, 7)), "subsampling_conv_kernel_size": rng.choice((3, 3, 5))}
    if not raw["model_type"].startswith("lasr"):
        raw |= {"subsampling_factor": rng.choice((2, 4, 8)), "subsampling_conv_stride": 2, "num_mel_bins": 8 * rng.randint(1, 4)}
    if rng.random() < 0.8:
        raw.pop("num_key_value_heads", None)
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes over enough frames."""
    return [Pass(1, 70), Pass(2, 93)]


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make mel frames."""
    if "ForRNNT" in type(model).__name__ or "ForTDT" in type(model).__name__:
        raise RefusedError("it writes as many tokens as it finds")
    config = getattr(model.config, "encoder_config", model.config)
    torch = import_module("torch")
    return {"input_features": torch.zeros(lengths.batch, lengths.seq, config.num_mel_bins)}
