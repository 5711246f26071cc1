"""BLT's random configs, and inputs: embedded patches for the large model alone, bytes for the others."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of lengths, and a large model that now and then takes what enters as it is."""
    if raw["model_type"] != "blt":
        return raw
    raw |= {"encoder_hash_byte_group_size": [rng.randint(2, 8) for _ in range(rng.randint(1, 3))]}
    raw["encoder_hash_byte_group_vocab"] = rng.randint(10, 60)
    if rng.random() < 0.2:
        raw["encoder_config"] = {**(raw.get("encoder_config") or {}), "hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2}
        raw["global_config"] = {"hidden_size": 16 * raw.setdefault("cross_attn_k", 2), "num_attention_heads": 2, "num_hidden_layers": 2}
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make the inputs."""
    if type(model).__name__ != "BltGlobalTransformer":
        return plain(model, lengths)
    width = getattr(model.config, "encoder_cross_output_size", None) or model.config.hidden_size
    return {"inputs_embeds": import_module("torch").zeros(lengths.batch, lengths.seq, width)}
