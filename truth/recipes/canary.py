"""Canary and Cohere ASR: one vocabulary for the whole, and mel frames with the first tokens of a text."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit: one vocabulary, an even width."""
    kind = raw["model_type"]
    inner = raw.setdefault("decoder_config", {}) if kind == "canary" else raw
    if kind == "canary":
        raw["vocab_size"] = inner["vocab_size"] = rng.randint(31, 99)
        inner["pad_token_id"] = 0
    heads = inner["num_attention_heads"] = rng.choice((2, 4))
    inner |= {"hidden_size": heads * rng.choice((4, 6)), "num_key_value_heads": rng.choice((1, 2)), "head_dim": rng.choice((4, 6))}
    if kind != "canary_decoder":
        encoder = raw.setdefault("encoder_config", {})
        encoder["model_type"] = "parakeet_encoder"
        heads = encoder["num_attention_heads"] = rng.choice((1, 2))
        width = inner["hidden_size"] if kind == "canary" else heads * rng.choice((4, 8))
        encoder |= {"hidden_size": width, "num_hidden_layers": rng.randint(1, 2), "subsampling_factor": rng.choice((4, 8))}
        encoder |= {"num_key_value_heads": heads, "num_mel_bins": 8 * rng.randint(2, 5), "conv_kernel_size": rng.choice((3, 5))}
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes over sound with some tokens of text, or over states for a decoder alone."""
    alone = type(model).__name__.endswith("Decoder")
    return [Pass(1, 9, encoder_seq=12), Pass(2, 5, encoder_seq=7)] if alone else [Pass(1, 90, 5), Pass(2, 113, 7)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a spectrogram and tokens, or tokens and states."""
    torch, config = import_module("torch"), model.config
    if type(model).__name__.endswith("Decoder"):
        tokens = {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
        outer = getattr(config, "encoder_config", config)
        if lengths.encoder_seq is None and outer is config:
            return tokens
        if lengths.encoder_seq is None:
            raise RefusedError("this decoder asks for an encoder's states")
        return tokens | {"encoder_hidden_states": torch.zeros(lengths.batch, lengths.encoder_seq, outer.hidden_size)}
    tokens = torch.ones(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=torch.long)
    frames = torch.zeros(lengths.batch, lengths.seq, config.encoder_config.num_mel_bins)
    return {"input_features": frames, "decoder_input_ids": tokens}
