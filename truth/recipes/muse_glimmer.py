"""Muse Glimmer: a projector that fits the tower, and images as patches laid out flat."""

from __future__ import annotations

import random
from importlib import import_module
from math import prod
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.live import RefusedError
from truth.recipes import muse_spark


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw small patches, a square table of positions, and the projector that the tower's squares of patches fit."""
    if raw["model_type"] == "muse_glimmer_text":
        return raw
    if raw["model_type"] == "muse_glimmer_assistant":
        return raw | {"target_layer_ids": list(range(rng.randint(1, 6)))}
    if raw["model_type"] == "muse_spark_audio":
        return _audio(rng, raw)
    whole = raw["model_type"] in ("muse_glimmer", "muse_spark")
    if raw["model_type"] == "muse_spark":
        text = raw["text_config"] = muse_spark.draw(rng, {**raw.get("text_config", {}), "model_type": "muse_spark_text"})
        text.setdefault("hidden_size", 64)
        raw["audio_config"] = _audio(rng, raw.get("audio_config", {})) | {"out_hidden_size": text["hidden_size"]}
    vision = raw.setdefault("vision_config", {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2}) if whole else raw
    side = rng.randint(2, 6)
    vision |= {"patch_size": rng.randint(1, 4), "pos_emb_height": side, "pos_emb_width": side, "merge_size": rng.choice((1, 2))}
    if whole:
        raw["out_hidden_size"] = vision.get("hidden_size", 1536) * vision["merge_size"] ** 2
        raw["image_token_id"] = 5
    return raw


def _audio(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    stages = raw["num_hidden_layers"] = rng.randint(1, 4)
    raw |= {"patch_sizes": [rng.randint(1, 4) for _ in range(stages)], "hidden_sizes": [rng.randint(4, 20) for _ in range(stages)]}
    return raw | {"depths": [rng.randint(1, 3) for _ in range(stages)], "mlp_ratio": rng.choice((1.5, 2.0, 4.0))}


def passes(model: Any) -> list[Pass]:
    """List passes with images of two shapes."""
    if model.config.model_type == "muse_glimmer_text":
        return []
    if model.config.model_type == "muse_glimmer_assistant":
        return [Pass(1, 16, encoder_seq=9), Pass(2, 5, encoder_seq=12)]
    if model.config.model_type == "muse_spark_audio":
        return [Pass(2, 3 * prod(model.config.patch_sizes))]
    return patched_inputs.passes(model, getattr(model.config, "vision_config", model.config).merge_size)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches."""
    if model.config.model_type == "muse_spark_audio":
        if lengths.seq % prod(model.config.patch_sizes):
            raise RefusedError("sound comes in whole patches")
        return {"input_values": import_module("torch").zeros(lengths.batch, lengths.seq)}
    if model.config.model_type == "muse_glimmer_assistant":
        return _block(model.config, lengths)
    torch, vision = import_module("torch"), getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config or not hasattr(vision, "patch_size")
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    flat = 3 * vision.patch_temporal * vision.patch_size**2
    pixels = torch.zeros(len(shapes) * lengths.patches[0] * lengths.patches[1], flat)
    if not whole:
        return {"pixel_values": pixels, "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, vision.merge_size) | {"pixel_values": pixels, "image_grid_thw": shapes}


def _block(config: Any, lengths: Any) -> dict[str, Any]:
    """Make a block of words, and the states that the text hands over."""
    if lengths.encoder_seq is None:
        raise RefusedError("the assistant asks for states of the text")
    torch, width = import_module("torch"), config.hidden_size
    states = torch.zeros(lengths.batch, lengths.encoder_seq, width * len(config.target_layer_ids))
    return {"noise_embeds": torch.zeros(lengths.batch, lengths.seq, width), "context_hidden_states": states}
