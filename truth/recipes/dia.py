"""Dia's random configs and inputs: as many delays as channels, states as wide as they are, and codes of all channels."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if raw["model_type"] != "dia":
        return raw
    encoder, decoder = raw.get("encoder_config"), raw.get("decoder_config")
    if decoder is not None:
        raw["delay_pattern"] = list(range(decoder.get("num_channels", 9)))
        decoder["cross_hidden_size"] = (encoder or {}).get("hidden_size", 1024)
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make bytes, and codes."""
    torch, name = import_module("torch"), type(model).__name__
    if name == "DiaEncoder":
        return plain(model, lengths)
    config = getattr(model.config, "decoder_config", model.config)
    if name == "DiaDecoder":
        if lengths.encoder_seq is not None:
            raise RefusedError("states to attend to are not made here")
        return {"input_ids": torch.zeros(lengths.batch, lengths.seq, config.num_channels, dtype=torch.long)}
    ahead = torch.zeros(lengths.batch, lengths.decoder_seq or lengths.seq, config.num_channels, dtype=torch.long)
    return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long), "decoder_input_ids": ahead}
