"""Inputs of BLIP: an image, a text, and an answer where there is one."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any

from truth.recipes import clip_towers


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Let most texts look at the image, and be as wide as what the answer looks at."""
    text, vision = raw.get("text_config"), raw.get("vision_config")
    if text is not None and vision is not None:
        if rng.random() < 0.7:
            text.pop("is_decoder", None)
        if rng.random() < 0.5:
            for key in ("hidden_size", "num_attention_heads"):
                vision.pop(key, None)
                if key in text:
                    vision[key] = text[key]
            vision.setdefault("num_attention_heads", 8)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and an image; of an answer, the decoder's tokens."""
    made = clip_towers.inputs(model, lengths)
    if "decoder_input_ids" in inspect.signature(model.forward).parameters:
        made["decoder_input_ids"] = import_module("torch").full((lengths.batch, lengths.decoder_seq or lengths.seq), 3)
    return made
