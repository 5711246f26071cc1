"""PatchTSMixer's random configs and inputs: channels of a series that is cut into patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lengths that fit, and all choices."""
    raw |= {"context_length": rng.randint(10, 30), "patch_length": rng.randint(1, 6), "patch_stride": rng.randint(1, 6)}
    raw |= {"norm_mlp": rng.choice(("LayerNorm", "BatchNorm")), "positional_encoding_type": rng.choice(("sincos", "random"))}
    raw |= {"loss": rng.choice(("mse", "nll")), "distribution_output": rng.choice(("student_t", "normal", "negative_binomial"))}
    raw |= {"mode": rng.choice(("common_channel", "mix_channel")), "scaling": rng.choice(("std", "mean", True, False, None))}
    raw["self_attn_heads"] = heads = rng.choice((1, 2, 3))
    raw["d_model"] = heads * rng.choice((4, 6))
    if rng.random() < 0.6:
        raw["head_aggregation"] = rng.choice(("use_last", "max_pool", "avg_pool", None))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make the past of all channels; the encoder alone takes it cut into patches."""
    torch, config = import_module("torch"), model.config
    if type(model).__name__ == "PatchTSMixerEncoder":
        return {"past_values": torch.rand(lengths.batch, config.num_input_channels, config.num_patches, config.patch_length)}
    return {"past_values": torch.rand(lengths.batch, config.context_length, config.num_input_channels)}
