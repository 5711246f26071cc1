"""IDEFICS: additional words, kinds of gates, and inputs with images."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw does not: gates, additional words, modules that stay trainable."""
    raw |= {"alpha_type": rng.choice(("float", "vector")), "additional_vocab_size": rng.choice((0, 3, 7)), "pad_token_id": 0}
    kinds = ["LayerNorm", "Linear", "Embedding"]
    raw |= {f"freeze_{side}_module_exceptions": rng.sample(kinds, rng.randint(0, 2)) for side in ("text", "vision")}
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with one image and with two."""
    return [Pass(1, 8, images=1), Pass(2, 5, images=2)]


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make tokens and the images that they attend to, without which the class does not run."""
    if lengths.images is None:
        raise RefusedError("there must be an image")
    torch, vision = import_module("torch"), model.config.vision_config
    shape = (lengths.batch, lengths.images, vision.num_channels, vision.image_size, vision.image_size)
    tokens = torch.ones(lengths.batch, lengths.seq, dtype=torch.long)
    mask = torch.ones(lengths.batch, lengths.seq, lengths.images)
    return {
        "input_ids": tokens,
        "attention_mask": torch.ones_like(tokens),
        "pixel_values": torch.zeros(shape),
        "image_attention_mask": mask,
    }
