"""Random configs and inputs of Grounding DINO: a backbone of few maps, a small text model, pictures and words."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images
from truth.live import RefusedError
from truth.recipes import detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a width that 32 groups divide, and as many maps as the backbone has, or more."""
    raw = detr.draw(rng, raw)
    handed = rng.randint(1, 3)
    inner: dict[str, Any] = {"model_type": "resnet", "depths": [1, 1, 1], "hidden_sizes": [8, 12, 16], "embedding_size": 8}
    if rng.random() < 0.5:
        inner = {"model_type": "swin", "depths": [1, 1, 1], "embed_dim": 8, "num_heads": [1, 2, 4], "window_size": 3}
        raw["image_size"] = inner["image_size"] = 48
    raw["backbone_config"] = inner | {"out_indices": list(range(4 - handed, 4))}
    raw |= {"d_model": 32 * rng.randint(1, 2), "encoder_attention_heads": rng.choice((2, 4, 8)), "decoder_attention_heads": 2}
    raw |= {"encoder_ffn_dim": 8 * rng.randint(1, 6), "num_feature_levels": max(1, handed + rng.choice((-1, 0, 0, 0, 1, 1, 2)))}
    raw |= {"decoder_layers": rng.randint(1, 3), "query_dim": rng.choice((4, 4, 4, 4, 4, 4, 6)), "num_queries": rng.randint(2, 6)}
    raw.setdefault("text_config", {})
    raw["text_config"] = {
        "vocab_size": 40,
        "hidden_size": 24,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "intermediate_size": 32,
    } | raw["text_config"]
    raw["text_config"].pop("add_cross_attention", None)
    raw |= {"two_stage": rng.random() < 0.8, "embedding_init_target": rng.random() < 0.8, "max_text_len": rng.randint(16, 40)}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures and words."""
    if type(model).__name__.endswith(("Encoder", "Decoder")):
        raise RefusedError("places to look at are not made here")
    torch = import_module("torch")
    return images.pictures(model, lengths) | {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
