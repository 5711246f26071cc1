"""MusicGen's random configs, and its inputs: the codebooks of an example stand below each other."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the number of codebooks."""
    raw["num_codebooks"] = rng.randint(1, 5)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens for each codebook."""
    torch = import_module("torch")
    books = model.config.num_codebooks
    made = {"input_ids": torch.zeros(lengths.batch * books, lengths.seq, dtype=torch.long)}
    if lengths.encoder_seq is not None:
        made["encoder_hidden_states"] = torch.zeros(lengths.batch, lengths.encoder_seq, model.config.hidden_size)
    return made
