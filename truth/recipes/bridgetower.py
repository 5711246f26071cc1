"""BridgeTower: a vision tower of heads 64 wide, one width for the cross-modal layers, and inputs of both kinds."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a vision width that 64 divides, as many layers on both sides, and the text's width for the cross-modal layers in most draws."""
    vision = raw if raw["model_type"] == "bridgetower_vision_model" else raw.get("vision_config")
    if vision is not None:
        vision |= {"hidden_size": 64 * rng.randint(1, 2), "patch_size": rng.randint(2, 6), "image_size": 6 * rng.randint(1, 4)}
    if raw["model_type"] == "bridgetower":
        raw |= {"link_tower_type": rng.choice(("add", "scaled_add", "interpolate")), "contrastive_hidden_size": rng.randint(4, 20)}
        raw |= {"logit_scale_init_value": 2.6592, "share_link_tower_layers": rng.random() < 0.2}
        raw["share_cross_modal_transformer_layers"] = rng.random() < 0.8
        layers = raw["num_hidden_layers"] = rng.randint(2, 3)
        text = raw.setdefault("text_config", {})
        vision = raw.setdefault("vision_config", {"hidden_size": 64, "patch_size": 4, "image_size": 12})
        text["num_hidden_layers"] = layers + rng.randint(0, 2)
        vision["num_hidden_layers"] = text["num_hidden_layers"] + (1 if vision.get("remove_last_layer") else 0)
        text |= {"vocab_size": rng.randint(20, 90), "intermediate_size": rng.randint(8, 60)}
        heads = text["num_attention_heads"] = raw["num_attention_heads"] = rng.choice((1, 2, 4))
        text["hidden_size"] = raw["hidden_size"] = 4 * heads * rng.randint(1, 5)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, a picture, or both."""
    torch, config = import_module("torch"), model.config
    vision = getattr(config, "vision_config", config)
    tokens = {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
    if config.model_type == "bridgetower_text_model":
        if lengths.encoder_seq is not None:
            tokens["encoder_hidden_states"] = torch.zeros(lengths.batch, lengths.encoder_seq, config.hidden_size)
        return tokens
    picture = torch.zeros(lengths.batch, vision.num_channels, vision.image_size, vision.image_size)
    return {"image": picture} if vision is config else tokens | {"pixel_values": picture}
