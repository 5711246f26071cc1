"""Random configs and inputs of Fun-ASR-Nano: layers in between that fit the text, frames side by side."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if raw["model_type"] == "fun_asr_nano_encoder":
        return _encoder(rng, raw)
    raw["audio_config"] = _encoder(rng, {"model_type": "fun_asr_nano_encoder"})
    width = 8 * rng.randint(1, 4)
    raw["text_config"] = {"model_type": "qwen3", "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 2}
    raw["text_config"] |= {"num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 12, "vocab_size": rng.randint(50, 99)}
    raw["adaptor_config"] = {"hidden_size": width, "intermediate_size": width // 4, "num_attention_heads": rng.choice((1, 2, 4))}
    raw["adaptor_config"] |= {"num_hidden_layers": rng.randint(1, 3), "projector_hidden_size": rng.randint(2, 20)}
    return raw


def _encoder(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    heads = rng.choice((1, 2, 4))
    raw |= {
        "num_attention_heads": heads,
        "hidden_size": 4 * heads,
        "num_hidden_layers": rng.randint(1, 6),
        "num_mel_bins": rng.randint(2, 9),
    }
    raw |= {"num_stacked_frames": 2 * rng.randint(1, 3), "fsmn_kernel_size": rng.randint(1, 5), "intermediate_size": rng.randint(2, 30)}
    return raw | {"num_timestamp_prediction_layers": rng.randint(0, 4)}


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make frames side by side and their mask, or tokens."""
    if not type(model).__name__.endswith("Encoder"):
        return plain(model, lengths)
    torch, config = import_module("torch"), model.config
    frames = torch.zeros(lengths.batch, lengths.seq, config.num_mel_bins * config.num_stacked_frames)
    return {"input_features": frames, "input_features_mask": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
