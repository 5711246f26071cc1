"""Perceiver: widths that its heads divide, and inputs that are vectors, words, pixels, or several of them."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw widths of which all heads make whole parts; the classes whose inputs have odd widths get one head over them."""
    own, crossed = rng.choice((1, 2, 4)), rng.choice((1, 1, 2, 4))
    raw |= {"num_self_attention_heads": own, "num_cross_attention_heads": crossed, "d_model": 8 * rng.randint(1, 6)}
    raw |= {
        "d_latents": 8 * rng.randint(1, 6),
        "cross_attention_shape_for_attention": rng.choice(("q", "kv")),
        "image_size": rng.randint(2, 9) + 8 * rng.randint(0, 1),
        "train_size": [rng.randint(1, 6), rng.randint(1, 6)],
        "samples_per_patch": rng.randint(1, 9),
        "_label_trainable_num_channels": rng.choice((8, 300, 500)),
        "num_labels": rng.choice((2, 3, 410, 500)),
    }
    raw |= {"qk_channels": rng.choice((None, 8, 24)), "v_channels": rng.choice((None, None, raw["d_latents"], 16))}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make what the class reads."""
    torch = import_module("torch")
    name, side = type(model).__name__, model.config.image_size
    if "Multimodal" in name:
        raise RefusedError("each call chooses which points of audio and video are output")
    if "Flow" in name:  # 3 colours of 3 x 3 neighbours, in each of two frames
        return {"inputs": torch.zeros(lengths.batch, 2, 27, *model.config.train_size)}
    if "Image" in name:
        return {"pixel_values": torch.zeros(lengths.batch, 3, side, side)}
    if name == "PerceiverModel":
        return {"inputs": torch.zeros(lengths.batch, lengths.seq, model.config.d_model)}
    return {"inputs": torch.zeros(lengths.batch, lengths.seq, dtype=torch.long)}
