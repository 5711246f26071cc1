"""Inputs of the detector inside Segment Anything 3: places of an image, and a prompt."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw widths that 8 groups divide."""
    raw["num_attention_heads"] = heads = rng.choice((1, 2, 4))
    return raw | {"hidden_size": 8 * heads * rng.randint(1, 3)}


def passes(model: Any) -> list[Pass]:
    """List passes with a prompt beside the image."""
    return [Pass(1, 16, encoder_seq=5), Pass(2, 9, encoder_seq=11)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make one map and a prompt; the decoder of masks reads maps of any size, and is left out."""
    zeros, width, name = import_module("torch").zeros, model.config.hidden_size, type(model).__name__
    if lengths.encoder_seq is None or name.endswith("MaskDecoder"):
        raise RefusedError("an image and a prompt are read together")
    seq, others = zeros(lengths.batch, lengths.seq, width), zeros(lengths.batch, lengths.encoder_seq, width)
    if name.endswith("Decoder"):
        return {"vision_features": others, "text_features": seq, "vision_pos_encoding": others}
    places = zeros(lengths.batch, width, 1, lengths.seq)
    return {"vision_features": [places], "vision_pos_embeds": [places], "text_features": others}
