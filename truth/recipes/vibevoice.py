"""VibeVoice: depths for the stem and every ratio, chunks of whole states, and waves."""

from __future__ import annotations

import random
from importlib import import_module
from math import prod
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists that fit, inside and out."""
    kind = raw["model_type"]
    if "tokenizer" in kind:
        return _tokenizer(rng, raw)
    for key in ("audio_config", "semantic_model_config", "semantic_tokenizer_encoder_config", "acoustic_tokenizer_encoder_config"):
        if key in raw:
            raw[key] = _tokenizer(rng, raw[key])
    if kind == "vibevoice_asr":
        raw.setdefault("acoustic_tokenizer_encoder_config", _tokenizer(rng, {}))
        raw["acoustic_tokenizer_chunk_size"] = prod(raw["acoustic_tokenizer_encoder_config"]["downsampling_ratios"]) * rng.randint(1, 9)
    return raw


def _tokenizer(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    steps = rng.randint(1, 4)
    raw |= {"downsampling_ratios": [rng.randint(2, 4) for _ in range(steps)], "num_filters": rng.randint(2, 6)}
    return raw | {
        "depths": [rng.randint(1, 3) for _ in range(steps + 1)],
        "kernel_size": rng.choice((1, 3, 5)),
        "channels": rng.choice((1, 1, 2)),
    }


def passes(model: Any) -> list[Pass]:
    """List waves of some states and a rest."""
    if "tokenizer" not in model.config.model_type:
        return []
    hop = prod(model.config.downsampling_ratios)
    return [Pass(1, 6 * hop), Pass(2, 3 * hop + 1)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words, a wave, or states of one."""
    torch, config = import_module("torch"), model.config
    kind = config.model_type
    if "tokenizer" not in kind:
        return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
    if kind.endswith("decoder"):
        return {"hidden_states": torch.zeros(lengths.batch, config.hidden_size, lengths.seq)}
    if lengths.seq < prod(config.downsampling_ratios):
        raise RefusedError("a wave of less than one state")
    wave = torch.zeros(lengths.batch, config.channels, lengths.seq)
    return {"hidden_states": wave} if kind.endswith("encoder") else {"input_values": wave}
