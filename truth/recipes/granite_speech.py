"""Granite Speech's random configs and inputs: blocks no longer than the positions reach, and frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the block, and a Q-Former as wide as it must be."""
    if raw["model_type"].endswith(("_encoder", "_ctc")):
        return (
            raw | {"context_size": rng.randint(3, 9), "max_pos_emb": rng.randint(9, 20)} if raw["model_type"].endswith("_encoder") else raw
        )
    raw["encoder_config"] = {**(raw.get("encoder_config") or {}), "context_size": rng.randint(3, 9), "max_pos_emb": 9}
    return raw | {"downsample_rate": rng.randint(1, 3), "window_size": rng.randint(3, 9)}


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make frames, or tokens."""
    if not type(model).__name__.endswith("CTCEncoder"):
        return plain(model, lengths)
    return {"hidden_states": import_module("torch").zeros(lengths.batch, lengths.seq, model.config.input_dim)}
