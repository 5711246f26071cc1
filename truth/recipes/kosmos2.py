"""Random configs and inputs of Kosmos: an image, and a text with places for it."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain
from truth.recipes import clip_towers, pix2struct


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the queries fewer than the text's tokens."""
    if "vision_model" not in raw["model_type"]:
        raw["latent_query_num"] = rng.randint(1, 6)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make an image or its patches, and a text that begins with its places."""
    torch, config = import_module("torch"), model.config
    if type(model).__name__ == "Kosmos2_5VisionEncoder":
        return plain(model, lengths) | {"attention_mask": torch.ones(lengths.batch, lengths.seq)}
    made = pix2struct.inputs(model, lengths) if "2_5" in type(model).__name__ else clip_towers.inputs(model, lengths)
    if "input_ids" in made:
        made.pop("attention_mask", None)
        places = torch.zeros(lengths.batch, lengths.seq, dtype=torch.bool)
        places[:, : config.latent_query_num] = True
        made["image_embeds_position_mask"] = places
    return made
