"""Random configs of OmDet-Turbo: one width, heads that divide it, maps of any widths, a small Swin and a small CLIP."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    heads = rng.choice((1, 2, 4))
    width = heads * rng.randint(2, 8)
    raw.pop("d_model", None)
    raw |= {"decoder_num_heads": heads, "decoder_hidden_dim": width, "encoder_hidden_dim": width}
    raw |= {"class_embed_dim": rng.choice((width, rng.randint(4, 30)))}
    raw |= {"encoder_attention_heads": heads, "encoder_layers": rng.randint(0, 2), "encoder_projection_indices": [rng.randint(0, 1)]}
    raw.pop("num_attention_heads", None)
    raw |= {"encoder_in_channels": [rng.randint(3, 20) for _ in range(rng.randint(2, 4))], "hidden_expansion": rng.randint(1, 2)}
    raw["backbone_config"] = {
        "model_type": "swin",
        "embed_dim": 8,
        "depths": [1, 2],
        "num_heads": [1, 2],
        "image_size": 32,
        "window_size": 4,
    }
    raw["backbone_config"]["out_indices"] = rng.choice(([1, 2], [2]))
    raw["text_config"] = {"model_type": "clip_text_model", "hidden_size": 8, "num_hidden_layers": rng.randint(1, 2), "vocab_size": 60}
    raw["text_config"] |= {"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": rng.randint(5, 20)}
    return raw | {"vision_features_channels": [rng.randint(3, 20) for _ in range(rng.randint(1, 4))]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: words and maps are of lengths of their own."""
    raise RefusedError("words and maps are of lengths of their own")
