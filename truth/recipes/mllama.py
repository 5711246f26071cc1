"""Random configs and inputs of Llama 3.2 Vision: layers that look across, and images of several tiles."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists, and widths that the states of several layers fill."""
    kind = raw["model_type"]
    if kind == "mllama_text_model":
        layers = raw.setdefault("num_hidden_layers", 3)
        if rng.random() < 0.9:
            raw["cross_attention_layers"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
    elif kind == "mllama_vision_model":
        layers = raw.setdefault("num_hidden_layers", 3)
        raw["intermediate_layers_indices"] = sorted(rng.sample(range(layers), rng.randint(0, layers)))
        raw["patch_size"] = rng.randint(2, 4)
        raw["image_size"] = raw["patch_size"] * rng.randint(1, 4) + rng.choice((0, 0, 1))
        raw["supported_aspect_ratios"] = [[1, count + 1] for count in range(rng.randint(1, 4))]
        raw["vision_output_dim"] = raw.get("hidden_size", 1280) * (1 + len(raw["intermediate_layers_indices"]))
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes with images, or for the text with states to look at."""
    if model.config.model_type == "mllama_text_model":
        return [Pass(2, 7, encoder_seq=11)]
    return [Pass(1, 12, images=1), Pass(2, 9, images=3)] if hasattr(model.config, "vision_config") else []


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, states to look at, and images of all their tiles."""
    torch = import_module("torch")
    vision = getattr(model.config, "vision_config", model.config if model.config.model_type == "mllama_vision_model" else None)
    made: dict[str, Any] = {}
    if model.config.model_type != "mllama_vision_model":
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if lengths.encoder_seq is not None and "input_ids" in made:
        return made | {"cross_attention_states": torch.zeros(lengths.batch, lengths.encoder_seq, model.config.hidden_size)}
    images = 1 if vision is model.config else lengths.images
    if vision is None or images is None:
        return made
    if type(model).__name__ == "MllamaForCausalLM":
        raise RefusedError("the text alone sees no images")
    shape = (lengths.batch, images, vision.max_num_tiles)
    pixels = torch.ones(*shape, vision.num_channels, vision.image_size, vision.image_size)
    marks = {"aspect_ratio_ids": torch.ones(shape[:2], dtype=torch.long), "aspect_ratio_mask": torch.ones(shape, dtype=torch.long)}
    if "input_ids" in made:
        marks["cross_attention_mask"] = torch.ones(lengths.batch, lengths.seq, images, vision.max_num_tiles, dtype=torch.long)
    return made | {"pixel_values": pixels} | marks
