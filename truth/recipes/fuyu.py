"""Random configs and inputs of Fuyu: texts beside the other fields as well, patches as they are."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """State the text beside the others now and then, as older configs do."""
    text = raw.get("text_config")
    if text is not None and text.get("model_type", "persimmon") == "persimmon" and rng.random() < 0.3:
        keys = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "qk_layernorm")
        del raw["text_config"]
        raw |= {key: text[key] for key in keys if key in text}
    return raw | {"image_token_id": 5, "pad_token_id": None}


def passes(model: Any) -> list[Pass]:
    """List passes with images, told by their patches."""
    return [Pass(1, 30, images=1, patches=(3, 5)), Pass(2, 31, images=2, patches=(4, 3))]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and patches."""
    torch = import_module("torch")
    made = {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    if lengths.images is None:
        return made
    each = lengths.images * lengths.patches[0] * lengths.patches[1]
    made["input_ids"][:, :each] = model.config.image_token_id
    width = model.config.patch_size**2 * model.config.num_channels
    return made | {"pixel_values": torch.zeros(lengths.batch, each, width)}
