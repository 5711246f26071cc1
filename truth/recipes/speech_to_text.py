"""Speech2Text's random configs and inputs: mel frames, thinned out by a few convolutions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw odd kernels, and an even number of channels."""
    kernels = [rng.choice((3, 5)) for _ in range(rng.randint(1, 3))]
    raw |= {"conv_kernel_sizes": kernels, "num_conv_layers": len(kernels), "conv_channels": 2 * rng.randint(3, 9), "input_channels": 1}
    return raw | {"pad_token_id": 1}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames and tokens."""
    zeros, long = import_module("torch").zeros, import_module("torch").long
    if type(model).__name__.endswith("Decoder"):
        return {"input_ids": zeros(lengths.batch, lengths.seq, dtype=long)}
    frames = zeros(lengths.batch, lengths.seq, model.config.input_feat_per_channel * model.config.input_channels)
    if type(model).__name__.endswith("Encoder"):
        return {"input_features": frames}
    return {"input_features": frames, "decoder_input_ids": zeros(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=long)}
