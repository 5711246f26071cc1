"""Random configs of ImageGPT and the Decision Transformer, and the latter's trajectories."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Leave the generic draw as it is, but for a tie that the reference cannot make."""
    if raw["model_type"] == "imagegpt" and rng.random() < 0.3:
        raw["tie_word_embeddings"] = False
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make the returns, states and actions of a trajectory, or tokens."""
    torch = import_module("torch")
    batch, steps = lengths.batch, lengths.seq
    if type(model).__name__ != "DecisionTransformerModel":
        made = {"input_ids": torch.zeros(batch, steps, dtype=torch.long)}
        if lengths.encoder_seq is not None:
            made["encoder_hidden_states"] = torch.zeros(batch, lengths.encoder_seq, model.config.hidden_size)
        return made
    return {
        "states": torch.zeros(batch, steps, model.config.state_dim),
        "actions": torch.zeros(batch, steps, model.config.act_dim),
        "returns_to_go": torch.zeros(batch, steps, 1),
        "timesteps": torch.zeros(batch, steps, dtype=torch.long),
        "attention_mask": torch.ones(batch, steps),
    }
