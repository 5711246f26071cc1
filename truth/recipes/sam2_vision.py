"""Random configs and inputs of Segment Anything 2's image encoder: stages, windows that need not fill a map, pooling."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def hiera(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages; where one pools, its windows are whole poolings."""
    number = rng.choice((2, 3, 3, 4))
    depths = [rng.randint(1, 3) for _ in range(number)]
    heads = [rng.choice((1, 2, 4)) for _ in range(number)]
    widths = [heads[0] * rng.randint(2, 5)]
    for more in heads[1:]:
        widths.append(more * (widths[-1] // more + rng.randint(1, 4)))
    starts = {sum(depths[:stage]) for stage in range(number)}
    return raw | {
        "hidden_size": widths[0],
        "image_size": [8 * rng.randint(2, 5), 8 * rng.randint(2, 5)],
        "patch_kernel_size": [3, 3],
        "patch_stride": [2, 2],
        "patch_padding": [1, 1],
        "num_query_pool_stages": rng.randint(0, number - 1),
        "blocks_per_stage": depths,
        "embed_dim_per_stage": widths,
        "num_attention_heads_per_stage": heads,
        "window_size_per_stage": [rng.choice((2, 4)) for _ in range(number)],
        "global_attention_blocks": [index for index in range(sum(depths)) if index not in starts and rng.random() < 0.4],
        "window_positional_embedding_background_size": [rng.randint(2, 5), rng.randint(2, 5)],
        "mlp_ratio": rng.choice((1.0, 2.5, 4.0)),
    }


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw Hiera, alone or with a neck over all of its stages."""
    if raw["model_type"] == "sam2_hiera_det_model":
        return hiera(rng, raw)
    if raw["model_type"] == "edgetam_vision_model":
        return edge(rng, raw)
    inner = hiera(rng, raw.get("backbone_config", {})) | {"model_type": "sam2_hiera_det_model", "num_query_pool_stages": 9}
    inner["window_size_per_stage"] = [4] * len(inner["blocks_per_stage"])
    return raw | {
        "backbone_config": inner,
        "backbone_channel_list": inner["embed_dim_per_stage"][::-1],
        "fpn_hidden_size": 4 * rng.randint(1, 5),
        "fpn_top_down_levels": [],
        "fpn_kernel_size": rng.choice((1, 1, 3)),
        "fpn_padding": rng.choice((0, 1)),
        "fpn_stride": rng.choice((1, 1, 2)),
        "num_feature_levels": 2,
    }


def edge(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one of timm's small networks, up to some map, and a neck of as many widths."""
    repvit = rng.random() < 0.8
    widths = [8 * rng.randint(1, 6) for _ in range(4)]
    arguments: dict[str, Any] = {"features_only": True, "in_chans": 3, "out_indices": list(range(rng.randint(2, 4)))}
    if repvit:
        arguments |= {"embed_dim": widths, "depth": [rng.randint(1, 3) for _ in range(4)]}
    else:
        widths = [64, 64, 128, 256]
    height, across = 8 * rng.randint(1, 3), 8 * rng.randint(1, 3)
    count = len(arguments["out_indices"])
    return raw | {
        "backbone_config": {
            "model_type": "timm_wrapper",
            "architecture": rng.choice(("repvit_m1", "repvit_m0_9")) if repvit else "resnet18",
            "model_args": arguments,
            "num_classes": 3,
            "label_names": ["a", "b", "c"],
        },
        "backbone_channel_list": widths[:count][::-1],
        "backbone_feature_sizes": [[height // 2**level, across // 2**level] for level in range(count)],
        "fpn_hidden_size": 4 * rng.randint(1, 5),
        "fpn_top_down_levels": [],
        "fpn_kernel_size": rng.choice((1, 1, 3)),
        "fpn_padding": rng.choice((0, 1)),
        "fpn_stride": rng.choice((1, 1, 2)),
        "num_feature_levels": 2,
    }


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images of the encoder's own size."""
    if model.config.model_type == "edgetam_vision_model":
        height, across = model.config.backbone_feature_sizes[0]
        if "repvit" not in model.config.backbone_config.architecture:
            raise RefusedError("the first map of a ResNet is half as large as the image")
        return {"pixel_values": import_module("torch").zeros(lengths.batch, 3, 4 * height, 4 * across)}
    inner = getattr(model.config, "backbone_config", None) or model.config
    return {"pixel_values": import_module("torch").zeros(lengths.batch, inner.num_channels, *inner.image_size)}
