"""Random configs of Inkling 2: kinds of layers, and a merger as wide as the text."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    if raw["model_type"] == "inkling2":
        found = text(rng, raw.get("text_config", {}))
        found.setdefault("hidden_size", 24)
        return raw | {"text_config": found, "vision_config": {**raw.get("vision_config", {}), "text_hidden_size": found["hidden_size"]}}
    return text(rng, raw) if raw["model_type"] == "inkling2_text" else raw


def text(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw kinds of layers."""
    layers = rng.randint(1, 7)
    kinds = [rng.choice(("hybrid", "hybrid_sliding")) for _ in range(layers)]
    own = {"layer_types": kinds} if rng.random() < 0.5 else {}
    return raw | {"num_hidden_layers": layers, "num_experts_per_tok": rng.randint(1, 3)} | own


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens; an image is cut into as many patches as its size says."""
    if model.config.model_type == "inkling2_vision":
        raise RefusedError("an image is cut into as many patches as its size says")
    torch = import_module("torch")
    return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
