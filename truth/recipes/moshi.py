"""Moshi: the tokens of one frame with the backbone's states, for its depth decoder."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError
from truth.recipes import mimi


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw even widths for the depth decoder, whose feed-forward network is halved."""
    if raw["model_type"] == "moshi_depth":
        raw["ffn_dim"] = 2 * rng.randint(2, 20)
    if raw["model_type"] == "moshi":
        raw["ffn_dim"] = 2 * rng.randint(2, 20)
        codec = raw.pop("audio_encoder_config", None) or {}
        frame = raw.pop("depth_decoder_config", None)
        raw["num_codebooks"] = rng.randint(1, 4)
        if rng.random() < 0.8:
            kept = {"num_quantizers": rng.randint(4, 6), "codebook_size": rng.choice((8, 16, 32))}
            raw["audio_encoder_config"] = mimi.draw(rng, {"model_type": "mimi", **codec}) | kept
        if frame is not None:
            raw["depth_decoder_config"] = {**frame, "ffn_dim": 2 * rng.randint(2, 20)}
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes over all codebooks of a frame."""
    return [Pass(2, model.config.num_codebooks)] if type(model).__name__ == "MoshiDepthDecoder" else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and a state of the backbone for each."""
    torch = import_module("torch")
    if type(model).__name__ == "MoshiForConditionalGeneration":
        codes = torch.zeros(lengths.batch, model.num_codebooks, lengths.seq, dtype=torch.long)
        return {**plain(model, lengths), "user_audio_codes": codes, "moshi_audio_codes": codes}
    if type(model).__name__ != "MoshiDepthDecoder":
        return plain(model, lengths)
    if lengths.seq != model.config.num_codebooks:
        raise RefusedError("a frame has as many tokens as codebooks")
    tokens = torch.zeros(lengths.batch, lengths.seq, dtype=torch.long)
    return {"input_ids": tokens, "last_hidden_state": torch.zeros(lengths.batch, lengths.seq, model.config.input_size)}
