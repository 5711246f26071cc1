"""PatchTST's random configs and inputs: channels of a series that is cut into patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lengths that fit, and all choices."""
    raw |= {"context_length": rng.randint(10, 30), "patch_length": rng.randint(1, 6), "patch_stride": rng.randint(1, 6)}
    raw |= {"norm_type": rng.choice(("batchnorm", "layernorm")), "positional_encoding_type": rng.choice(("sincos", "random"))}
    raw |= {"loss": rng.choice(("mse", "nll")), "distribution_output": rng.choice(("student_t", "normal", "negative_binomial"))}
    if rng.random() < 0.6:
        raw["pooling_type"] = rng.choice(("mean", "max", None))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make the past of all channels."""
    return {"past_values": import_module("torch").rand(lengths.batch, model.config.context_length, model.config.num_input_channels)}
