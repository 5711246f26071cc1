"""MusicGen's random configs and inputs: text, and the codes of each codebook below each other."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let a decoder be told the text's width now and then."""
    text, decoder = raw.get("text_encoder"), raw.get("decoder")
    if text and decoder and "d_model" in text and raw["model_type"] == "musicgen" and rng.random() < 0.3:
        decoder["cross_attention_hidden_size"] = text["d_model"]
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make text and codes."""
    torch = import_module("torch")
    books, ahead = model.config.decoder.num_codebooks, lengths.decoder_seq or lengths.seq
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    return made | {"decoder_input_ids": torch.zeros(lengths.batch * books, ahead, dtype=torch.long)}
