"""Gemma 3n's random configs: text and sound as by themselves, one architecture of images; and tokens with images of 768 pixels a side."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.recipes import gemma3n, gemma3n_audio


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists of text and sound; the fused map of images has 2048 channels, and hidden_size mostly says so."""
    for key, of in (("text_config", gemma3n), ("audio_config", gemma3n_audio)):
        if raw.get(key):
            of.draw(rng, raw[key])
    vision = {"architecture": "mobilenetv5_300m_enc", "hidden_size": rng.choice((2048, 2048, 24)), "vocab_size": rng.randint(9, 40)}
    return raw | {"vision_config": vision, "image_token_id": 5, "audio_token_id": 7}


def passes(model: Any) -> list[Pass]:
    """List a pass with an image, of which 256 tokens are made."""
    return [Pass(1, 270, images=1)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images."""
    torch = import_module("torch")
    tokens = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if not lengths.images:
        return {"input_ids": tokens}
    tokens[:, 2:258] = model.config.image_token_id
    return {"input_ids": tokens, "pixel_values": torch.zeros(lengths.batch * lengths.images, 3, 768, 768)}
