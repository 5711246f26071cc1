"""DAB-DETR: DETR's draws with its own keys, and states, boxes and points for its halves alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images
from truth.forward import Pass
from truth.live import RefusedError
from truth.recipes import detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone and an image, patterns and activations."""
    raw = detr.draw(rng, raw)
    raw.pop("position_embedding_type")
    if "d_model" in raw:
        raw["hidden_size"] = raw.pop("d_model")
    raw |= {"num_patterns": rng.choice((0, 0, 2)), "activation_function": rng.choice(("prelu", "relu", "gelu")), "query_dim": 4}
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes of queries over states, for the decoder alone."""
    return [Pass(1, 9, encoder_seq=12), Pass(2, 5, encoder_seq=7)] if type(model).__name__.endswith("Decoder") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or states for the encoder or the decoder alone."""
    torch, name = import_module("torch"), type(model).__name__
    if not name.endswith(("Encoder", "Decoder")):
        return images.pictures(model, lengths)
    made = torch.zeros(lengths.batch, lengths.seq, model.config.hidden_size)
    if name.endswith("Encoder"):
        return {"inputs_embeds": made, "object_queries": made, "attention_mask": None}
    if lengths.encoder_seq is None:
        raise RefusedError("queries look at an encoder's states")
    keys = torch.zeros(lengths.batch, lengths.encoder_seq, model.config.hidden_size)
    boxes = torch.zeros(lengths.batch, lengths.seq, 4)
    named = {"encoder_hidden_states": keys, "memory_key_padding_mask": None}
    return named | {"inputs_embeds": made, "query_position_embeddings": boxes, "object_queries": keys}
