"""Random configs and inputs of timm's models inside the reference library: small ones by name, and ResNets as backbones."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

MODELS: dict[str, tuple[str, ...]] = {
    "depth": ("vit_tiny_patch16_224", "deit_tiny_patch16_224", "eva02_tiny_patch14_224", "xcit_nano_12_p16_224"),
    "depths": ("convnext_atto", "convnextv2_atto"),
    "layers": ("resnet18", "resnet50", "resnet50d", "seresnet50", "ecaresnet26t", "resnext50_32x4d"),
}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a model of few layers, or what a backbone hands on."""
    if raw["model_type"] == "timm_backbone":
        names = "resnet18", "resnet34", "resnet50", "resnet50.a1_in1k", "resnet101"
        outputs = sorted(rng.sample(range(5), rng.randint(1, 5))) if rng.random() < 0.7 else [-1]
        raw |= {"backbone": rng.choice(names), "out_indices": outputs, "num_channels": rng.choice((1, 3)), "features_only": True}
        return raw | {"output_stride": rng.choice((None, 16, 32))}
    key = rng.choice(list(MODELS))
    counts: Any = rng.randint(1, 3) if key == "depth" else [rng.randint(1, 2) for _ in range(4)]
    raw.pop("timm_model", None)
    return raw | {"architecture": rng.choice(MODELS[key]), "model_args": {key: counts}, "num_labels": rng.choice((2, 10))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures of 224 pixels a side."""
    channels = getattr(model.config, "num_channels", 3)
    return {"pixel_values": import_module("torch").zeros(lengths.batch, channels, 224, 224)}
