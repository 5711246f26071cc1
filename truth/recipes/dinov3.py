"""Inputs of the layers of DINOv3 by themselves: vectors, and the rotation of those that are patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Take the generic draw."""
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images, or vectors for an encoder."""
    made = plain(model, lengths)
    if type(model).__name__ == "DINOv3ViTEncoder":
        torch = import_module("torch")
        width = model.config.hidden_size // model.config.num_attention_heads
        made["position_embeddings"] = (torch.zeros(lengths.seq - 1, width), torch.zeros(lengths.seq - 1, width))
    return made
