"""TAPAS' random configs and inputs: tokens, and seven types of each."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the kinds of token types."""
    if rng.random() < 0.7:
        raw["type_vocab_sizes"] = [rng.randint(2, 9) for _ in range(rng.randint(3, 8))]
    if rng.random() < 0.5:
        raw["reset_position_index_per_cell"] = rng.random() < 0.5
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and their types."""
    torch, types = import_module("torch"), len(model.config.type_vocab_sizes)
    return plain(model, lengths) | {"token_type_ids": torch.zeros(lengths.batch, lengths.seq, types, dtype=torch.long)}
