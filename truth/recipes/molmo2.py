"""Molmo 2: images of two sides, and inputs of the tower and of what pools its patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw images of two sides and the layers read, which the tower must have."""
    kind = raw["model_type"]
    if kind in ("molmo2", "molmo2_vision"):
        tower = raw if kind == "molmo2_vision" else raw.setdefault("vision_config", {})
        patch = tower["patch_size"] = rng.randint(2, 6)
        tower["image_size"] = [patch * rng.randint(1, 4) + rng.randint(0, 1), patch * rng.randint(1, 4)]
        tower.pop("num_position_embeddings", None)
    if kind in ("molmo2", "molmo2_adapter"):
        outer = raw if kind == "molmo2_adapter" else raw.setdefault("adapter_config", {})
        most = raw.get("vision_config", {}).get("num_hidden_layers", 25) if kind == "molmo2" else 9
        outer["vision_feature_layer"] = [rng.randrange(-most, most) for _ in range(rng.randint(1, 3))]
    text = raw if kind == "molmo2_text" else raw.get("text_config")
    if text is not None:
        text["qk_norm_type"] = rng.choice(("qwen3", "olmo"))
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes in which each token pools a few patches."""
    return [Pass(1, 6, encoder_seq=4), Pass(2, 3, encoder_seq=9)] if model.config.model_type == "molmo2_adapter" else []


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make patches laid out flat, states with the indices that each token pools, or tokens."""
    torch, config = import_module("torch"), model.config
    if config.model_type == "molmo2_vision":
        flat = config.num_channels * config.patch_size**2
        return {"pixel_values": torch.zeros(lengths.batch, config.num_position_embeddings, flat)}
    if config.model_type != "molmo2_adapter":
        return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
    if lengths.encoder_seq is None:
        raise RefusedError("how many patches a token pools is not told")
    width = config.hidden_size * len(config.vision_feature_layer)
    indices = torch.zeros(lengths.batch * lengths.seq, lengths.encoder_seq, dtype=torch.long)
    return {"image_features": torch.zeros(lengths.batch, 5, width), "pooled_patches_idx": indices}
