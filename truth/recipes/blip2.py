"""Random configs and inputs of BLIP-2 and InstructBLIP."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import clip_towers


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how often queries look at the image, and which token stands for it."""
    inner = raw.get("qformer_config", raw if raw["model_type"].endswith("qformer") else {})
    if rng.random() < 0.7:
        inner["cross_attention_frequency"] = rng.randint(1, 3)
    if "qformer_config" in raw:
        raw["video_token_index" if "video" in raw["model_type"] else "image_token_index"] = 5
        if raw["model_type"] == "blip-2" and rng.random() < 0.5:
            del raw["image_token_index"]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make an image, a text without places for it, and the decoder's tokens where the language model has an encoder.

    Raises:
        RefusedError: The queries by themselves look at states whose length no pass says.
    """
    torch = import_module("torch")
    taken = inspect.signature(model.forward).parameters
    if "query_embeds" in taken:
        raise RefusedError("no states to look at")
    made = clip_towers.inputs(model, lengths)
    if model.config.model_type == "instructblipvideo":
        made["pixel_values"] = made["pixel_values"][:, None]
    if "qformer_input_ids" in taken:
        made["qformer_input_ids"] = made["input_ids"]
        if "video" in model.config.model_type:
            made["qformer_attention_mask"] = torch.ones_like(made["input_ids"])
    if "decoder_input_ids" in taken and not model.config.use_decoder_only_language_model:
        made["decoder_input_ids"] = torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3)
    return made
