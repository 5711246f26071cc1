"""T5Gemma 2's random configs: both sides of one width and one vocabulary, heads that divide it, tokens that fit the patches."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import t5gemma

passes, inputs = t5gemma.passes, t5gemma.inputs


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what both sides share; the config of one side states its dropout, as a saved one does."""
    if raw["model_type"] != "t5gemma2":
        return one_side(rng, raw)
    encoder, decoder = raw.setdefault("encoder", {}), raw.setdefault("decoder", {})
    text = encoder.setdefault("text_config", {})
    width, words = 24 * rng.randint(1, 3), rng.randint(30, 90)
    for own in (text, decoder):
        kv_heads = rng.choice((1, 2))
        own |= {
            "hidden_size": width,
            "vocab_size": words,
            "num_key_value_heads": kv_heads,
            "num_attention_heads": kv_heads * rng.choice((1, 2, 3)),
        }
        own |= {"num_hidden_layers": rng.randint(1, 4), "head_dim": rng.choice((4, 8, 10)), "intermediate_size": rng.randint(8, 60)}
        own.pop("layer_types", None)
    fit_tokens(rng, encoder)
    raw.pop("is_encoder_decoder", None)
    encoder["eoi_token_index"] = 4
    return raw | {"image_token_index": 5}


def one_side(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the config of a side alone."""
    for config in (raw, raw.setdefault("text_config", {}) if raw["model_type"] == "t5gemma2_encoder" else raw):
        config["dropout_rate"] = 0.0
        config.pop("layer_types", None)
    fit_tokens(rng, raw)
    return raw


def fit_tokens(rng: random.Random, raw: dict[str, Any]) -> None:
    """Draw how many tokens an image makes, no more than the tower has patches."""
    vision = raw.get("vision_config")
    if vision is not None:
        across = vision.get("image_size", 224) // vision.get("patch_size", 16)
        raw["mm_tokens_per_image"] = rng.randint(1, across) ** 2
