"""BROS' random configs and inputs: tokens, and a box around each."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let the hidden size give whole sines, in most draws."""
    if rng.random() < 0.7:
        raw |= {"hidden_size": rng.choice((64, 128)), "num_attention_heads": rng.choice((1, 2, 4)), "dim_bbox": rng.choice((4, 8))}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and boxes; the encoder alone takes states and the distances between boxes."""
    if lengths.encoder_seq is not None:
        raise RefusedError("states to attend to have no boxes")
    torch, config = import_module("torch"), model.config
    if type(model).__name__ == "BrosEncoder":
        states = torch.zeros(lengths.batch, lengths.seq, config.hidden_size)
        apart = torch.zeros(lengths.seq, lengths.seq, lengths.batch, config.hidden_size // config.num_attention_heads)
        return {"hidden_states": states, "bbox_pos_emb": apart}
    tokens = torch.zeros(lengths.batch, lengths.seq, dtype=torch.long)
    return {"input_ids": tokens, "bbox": torch.zeros(lengths.batch, lengths.seq, config.dim_bbox)}
