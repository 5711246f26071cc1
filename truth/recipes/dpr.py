"""DPR's random configs and inputs: with and without a projection, which only the encoders run with."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Leave the projection out of half of the draws; and few decoders, which build but do not run."""
    if rng.random() < 0.5:
        raw["projection_dim"] = rng.choice((0, 5, 8))
    if rng.random() < 0.7:
        raw |= {"is_decoder": False, "add_cross_attention": False}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and the mask that the inner classes insist on."""
    made = plain(model, lengths)
    return made | {"attention_mask": import_module("torch").ones_like(made["input_ids"])}
