"""Random configs and inputs of MaskFormer: a Swin of four stages or a ResNet, and the fields of DETR for the decoder."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def backbone(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a Swin of four stages, or a ResNet that hands on one to four maps."""
    raw["image_size"] = rng.choice((64, 96, [64, 96]))
    if rng.random() < 0.5:
        inner: dict[str, Any] = {"model_type": "swin", "depths": [1, 2, 1, 1], "embed_dim": 8 * rng.randint(1, 2)}
        inner |= {"num_heads": [1, 2, 4, 4], "window_size": rng.choice((1, 2)), "image_size": raw["image_size"]}
        inner |= {"qkv_bias": rng.random() < 0.5, "use_absolute_embeddings": rng.random() < 0.2, "out_indices": [1, 2, 3, 4]}
        return inner
    inner = {"model_type": "resnet", "depths": [1, 1, 2, 1], "hidden_sizes": [8, 12, 16, 32], "embedding_size": 8}
    return inner | {"out_indices": list(range(rng.randint(0, 3), 5)), "layer_type": rng.choice(("basic", "bottleneck"))}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw channels that 32 groups divide, and a decoder of any width, at times that of the last map."""
    raw |= {"backbone_config": backbone(rng, raw), "fpn_feature_size": 32 * rng.randint(1, 2)}
    inner = {"d_model": 8 * rng.randint(1, 4), "decoder_attention_heads": rng.choice((1, 2, 4)), "num_queries": rng.randint(2, 7)}
    raw["decoder_config"] = inner | {"model_type": "detr", "decoder_layers": rng.randint(1, 3), "decoder_ffn_dim": rng.randint(4, 40)}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    model.config.image_size = getattr(model.config, "image_size", 384)
    return images.pictures(model, lengths)
