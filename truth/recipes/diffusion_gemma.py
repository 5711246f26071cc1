"""Random configs and inputs of DiffusionGemma: Gemma 4's, with experts always; a prompt, and a canvas that sees it."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.recipes import gemma4, gemma4_vl


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the text's layers and experts; the tower is Gemma 4's own recipe's."""
    if raw["model_type"] == "diffusion_gemma_text":
        raw = gemma4.draw(rng, raw)
        raw.pop("num_kv_shared_layers")
        return raw | {"num_experts": rng.randint(3, 5), "top_k_experts": rng.randint(1, 3), "moe_intermediate_size": rng.randint(3, 20)}
    text = raw.setdefault("text_config", {})
    if not text:
        text |= draw(rng, {"model_type": "diffusion_gemma_text"})
    text["pad_token_id"] = 0
    return raw | {"image_token_id": 5, "canvas_length": rng.randint(3, 9)}


def passes(model: Any) -> list[Pass]:
    """List passes with images for what sees, and with a prompt's states for the decoder alone."""
    name = type(model).__name__
    if name.endswith("DecoderModel"):
        return [Pass(1, 8, None, 6), Pass(2, 5, None, 9)]
    return gemma4_vl.passes(model) if name.endswith("EncoderModel") else []


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make a prompt, with images or none, and a canvas."""
    torch, name = import_module("torch"), type(model).__name__
    canvas = torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3, dtype=torch.long)
    if name.endswith("DecoderModel"):
        return {"decoder_input_ids": canvas, "past_key_values": read_prompt(model, lengths)}
    if name.endswith("TextModel"):
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    prompt = gemma4_vl.inputs(model, lengths)
    return prompt if name.endswith("EncoderModel") else prompt | {"decoder_input_ids": canvas}


def read_prompt(model: Any, lengths: Pass) -> Any:
    """Make the keys and values that the encoder would have kept."""
    torch, text = import_module("torch"), model.config.text_config
    cache = import_module("transformers.cache_utils").DynamicCache(config=text)
    for index in range(text.num_hidden_layers):
        own = text.per_layer_config[index]
        kept = torch.zeros(lengths.batch, own.num_key_value_heads, lengths.encoder_seq or 1, own.head_dim)
        cache.update(kept, kept.clone(), index)
    return cache
