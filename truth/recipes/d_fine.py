"""Random configs and inputs of D-FINE and DEIMv2: those of RT-DETR, and points, bins and layers of their own."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import rt_detr


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw RT-DETR's fields, points by number or by list, and at times layers behind the one that counts."""
    raw = rt_detr.draw(rng, raw)
    levels, width = raw["num_feature_levels"], raw["encoder_hidden_dim"]
    heads = rng.choice((1, 2, 4))
    raw |= {
        "decoder_attention_heads": heads,
        "d_model": width if rng.random() < 0.5 and width % heads == 0 else 4 * heads * rng.randint(1, 4),
    }
    if rng.random() < 0.2:
        levels = raw["num_feature_levels"] = levels + 1
    raw["decoder_n_points"] = rng.randint(1, 4) if rng.random() < 0.5 else [rng.randint(1, 4) for _ in range(levels)]
    raw |= {"decoder_layers": rng.randint(1, 3), "depth_mult": rng.choice((0.1, 0.34, 0.67, 1.0)), "lqe_layers": rng.randint(1, 3)}
    raw |= {"max_num_bins": rng.choice((4, 8)), "top_prob_values": rng.randint(1, 4)}
    raw["eval_idx"] = rng.choice((-1, -1, -1, raw["decoder_layers"] - 1, 0))
    if raw["model_type"] == "deimv2":
        raw |= {"encoder_type": rng.choice(("hybrid", "hybrid", "lite")), "encoder_fuse_op": rng.choice(("sum", "sum", "sum", "cat"))}
    if raw.get("encoder_type") == "hybrid" and rng.random() < 0.3:
        heads = rng.choice((1, 2))
        own = {
            "model_type": "dinov3_vit",
            "num_attention_heads": heads,
            "hidden_size": 4 * heads * rng.randint(1, 4),
            "num_hidden_layers": 4,
        }
        raw["backbone_config"] = own | {"intermediate_size": rng.randint(3, 20), "out_indices": [1, 2, 4]}
        raw["spatial_tuning_adapter_inplanes"] = rng.randint(1, 9)
    if raw.get("encoder_type") == "lite":
        raw = _lite(rng, raw)
    return raw


def _lite(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw one or two maps."""
    maps, inner = rng.randint(1, 2), raw["backbone_config"]
    stages = len(inner["depths"])
    inner["out_indices"] = list(range(stages + 1 - maps, stages + 1))
    raw["encoder_in_channels"] = inner["hidden_sizes"][-maps:]
    raw |= {"decoder_in_channels": [raw["encoder_hidden_dim"]] * 2, "num_feature_levels": 2, "feat_strides": [8, 16][:maps]}
    return raw | {"decoder_n_points": rng.randint(1, 4)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or the maps that an encoder takes alone."""
    name, config = type(model).__name__, model.config
    if name.endswith("ConvEncoder"):
        side = getattr(config, "image_size", 640)
        height, width = side if isinstance(side, (list, tuple)) else (side, side)
        return {"pixel_values": import_module("torch").zeros(lengths.batch, config.backbone_config.num_channels, height, width)}
    if not name.endswith("LiteEncoder"):
        return rt_detr.inputs(model, lengths)
    side, zeros = getattr(config, "image_size", 640), import_module("torch").zeros
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    if len(config.encoder_in_channels) != len(config.feat_strides):
        raise RefusedError("no map for every width")
    shapes = [(-(-height // stride), -(-width // stride)) for stride in config.feat_strides]
    return {"inputs_embeds": [zeros(lengths.batch, wide, *at) for wide, at in zip(config.encoder_in_channels, shapes, strict=True)]}
