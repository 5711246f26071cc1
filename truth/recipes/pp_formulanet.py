"""PP-FormulaNet: an encoder's maps and widths that fit, an image and the first tokens of a formula."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.recipes import sam_vision


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the encoder, as wide as the decoder reads."""
    kind = raw["model_type"]
    if kind == "pp_formulanet_text":
        return raw
    if kind == "pp_formulanet_vision":
        return _vision(rng, raw)
    raw["vision_config"] = _vision(rng, raw.get("vision_config", {}))
    text = raw.setdefault("text_config", {})
    text["decoder_attention_heads"] = rng.choice((1, 2, 4))
    text["d_model"] = raw["vision_config"]["decoder_hidden_size"] = text["decoder_attention_heads"] * 8
    return raw


def _vision(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    raw = sam_vision.draw(rng, raw)
    raw.pop("mlp_ratio", None)
    raw["output_channels"] = raw["post_conv_in_channels"] = rng.randint(2, 12)
    raw["image_size"] = raw["image_size"] // raw["patch_size"] * raw["patch_size"]
    return raw


def passes(model: Any) -> list[Pass]:
    """List passes over states, for the decoder alone."""
    return [Pass(2, 5, encoder_seq=7)] if model.config.model_type == "pp_formulanet_text" else [Pass(2, 4, 6)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make an image, tokens, or tokens and states."""
    torch, config = import_module("torch"), model.config
    made: dict[str, Any] = {}
    if config.model_type == "pp_formulanet_text":
        made = {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
        if lengths.encoder_seq is not None:
            made["encoder_hidden_states"] = torch.zeros(lengths.batch, lengths.encoder_seq, config.d_model)
        return made
    vision = getattr(config, "vision_config", config)
    made["pixel_values"] = torch.zeros(lengths.batch, vision.num_channels, vision.image_size, vision.image_size)
    if vision is not config:
        made["decoder_input_ids"] = torch.ones(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=torch.long)
    return made
