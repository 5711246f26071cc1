"""Random configs and inputs of two models in one: what the encoder reads, and the decoder's tokens."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let most decoders attend to the encoder."""
    decoder = raw.get("decoder")
    if decoder and rng.random() < 0.8:
        decoder |= {"is_decoder": True, "add_cross_attention": True}
    if decoder and rng.random() < 0.15:
        encoder = raw.get("encoder", {})
        decoder["cross_attention_hidden_size"] = encoder.get("hidden_size", 768)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, an image or a wave for the encoder, and tokens for the decoder."""
    torch = import_module("torch")
    if lengths.encoder_seq is not None:
        raise RefusedError("states to attend to are not made here")
    made = {"decoder_input_ids": torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3)}
    name = model.encoder.main_input_name
    if name == "input_ids":
        return made | {name: torch.full((lengths.batch, lengths.seq), 3)}
    if name == "pixel_values":
        side = model.config.encoder.image_size
        height, width = side if isinstance(side, (list, tuple)) else (side, side)
        return made | {name: torch.zeros(lengths.batch, model.config.encoder.num_channels, height, width)}
    return made | {name: torch.zeros(lengths.batch, lengths.seq)}
