"""HiFi-GAN's random configs and inputs: steps that enlarge, odd kernels in the residual blocks, and mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the steps and the blocks."""
    if rng.random() < 0.2:
        return raw
    steps, blocks = rng.randint(1, 3), rng.randint(1, 3)
    rates = [rng.randint(1, 4) for _ in range(steps)]
    raw["upsample_initial_channel"] = 2**steps * rng.randint(1, 5) + rng.randint(0, 1)
    raw["upsample_rates"] = rates
    raw["upsample_kernel_sizes"] = [rate + rng.randint(0, 4) for rate in rates]
    raw["resblock_kernel_sizes"] = [rng.choice((1, 3, 5)) for _ in range(blocks)]
    raw["resblock_dilation_sizes"] = [[rng.randint(1, 4) for _ in range(rng.randint(1, 3))] for _ in range(blocks)]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames."""
    torch = import_module("torch")
    return {"spectrogram": torch.zeros(lengths.batch, lengths.seq, model.config.model_in_dim)}
