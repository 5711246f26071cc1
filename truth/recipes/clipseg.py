"""Random configs and inputs of CLIPSeg."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import clip_towers


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw which layers are taken, and heads that divide the decoder's width."""
    if raw["model_type"] == "clipseg":
        heads = raw["decoder_num_attention_heads"] = rng.choice((1, 2, 3))
        raw["reduce_dim"] = 2 * heads * rng.randint(2, 6)
        raw["vision_config"]["patch_size"] = rng.choice((4, 8))
        raw["vision_config"]["image_size"] = raw["vision_config"]["patch_size"] * rng.randint(2, 4)
        layers = raw["vision_config"].get("num_hidden_layers", 12)
        raw["extract_layers"] = [rng.randrange(layers) for _ in range(rng.randint(1, 3))]
        raw["conditional_layer"] = rng.choice((0, 0, 1, 2, 5))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a text and an image, or what the decoder takes of both."""
    if type(model).__name__ != "CLIPSegDecoder":
        return clip_towers.inputs(model, lengths)
    torch, vision = import_module("torch"), model.config.vision_config
    states = torch.zeros(lengths.batch, (vision.image_size // vision.patch_size) ** 2 + 1, vision.hidden_size)
    told = torch.zeros(lengths.batch, model.config.projection_dim)
    return {"hidden_states": [states] * len(model.config.extract_layers), "conditional_embeddings": told}
