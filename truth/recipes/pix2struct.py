"""Random configs and inputs of Pix2Struct: flattened patches, as many as there are positions."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let most heads of a text be as wide as their maps."""
    text = raw.get("text_config", raw if "text" in raw["model_type"] else {})
    if "hidden_size" in text and rng.random() < 0.8:
        text["d_kv"] = text["hidden_size"] // text.setdefault("num_heads", 12) or 1
    if "vision_config" in raw and "text_config" in raw and rng.random() < 0.8:
        raw["vision_config"]["hidden_size"] = raw["text_config"].get("hidden_size", 768)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make patches, and tokens for the text."""
    torch, config = import_module("torch"), model.config
    taken = inspect.signature(model.forward).parameters
    vision = getattr(config, "vision_config", config)
    made = {}
    if "flattened_patches" in taken:
        positions = getattr(vision, "seq_len", getattr(vision, "max_num_patches", 0))
        made["flattened_patches"] = torch.zeros(lengths.batch, positions, vision.patch_embed_hidden_size + 2)
        made["attention_mask"] = torch.ones(lengths.batch, positions)
    if "decoder_input_ids" in taken:
        made["decoder_input_ids"] = torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3)
    elif "input_ids" in taken:
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3)
    return made
