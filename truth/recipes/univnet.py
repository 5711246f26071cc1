"""UnivNet's random configs and inputs: blocks of one kernel, one stride and some dilations each, odd kernels, and mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of one length; the class runs only if the predictors are as wide as the noise, and kernels odd."""
    blocks = rng.randint(1, 3)
    raw |= {"resblock_kernel_sizes": [rng.choice((1, 3, 5)) for _ in range(blocks)]}
    raw |= {"resblock_stride_sizes": [rng.randint(1, 5) for _ in range(blocks)]}
    raw |= {"resblock_dilation_sizes": [[rng.randint(1, 4) for _ in range(rng.randint(1, 4))] for _ in range(blocks)]}
    width = rng.randint(2, 8)
    raw |= {"model_in_channels": width, "kernel_predictor_hidden_channels": width if rng.random() < 0.8 else width + 1}
    return raw | {"kernel_predictor_conv_size": rng.choice((1, 3, 5))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames; the noise is drawn by the class."""
    torch = import_module("torch")
    return {"input_features": torch.zeros(lengths.batch, lengths.seq, model.config.num_mel_bins)}
