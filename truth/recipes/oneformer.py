"""Random configs and inputs of OneFormer: those of Mask2Former by other keys, and a task."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import mask2former


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what Mask2Former has, and at times the text encoder of training."""
    raw = mask2former.draw(rng, raw)
    width = raw.pop("feature_size")
    raw |= {"conv_dim": width, "strides": raw.pop("feature_strides"), "mask_dim": width if rng.random() < 0.8 else 12}
    raw |= {"is_training": rng.random() < 0.3, "text_encoder_width": 64 * rng.randint(1, 2), "text_encoder_vocab_size": 50}
    return raw | {"text_encoder_n_ctx": rng.choice((0, 3)), "text_encoder_proj_layers": rng.randint(1, 3)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures and a task."""
    made = mask2former.inputs(model, lengths)
    return made | {"task_inputs": import_module("torch").zeros(lengths.batch, model.config.task_seq_len)}
