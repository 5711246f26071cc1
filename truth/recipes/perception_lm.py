"""Random configs of PerceptionLM: small Perception Encoders by name, with the arguments that published configs state."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a tower of few layers."""
    name, width = rng.choice(
        (("vit_pe_core_tiny_patch16_384", 192), ("vit_pe_lang_large_patch14_448", 1024), ("vit_pe_spatial_tiny_patch16_512", 192))
    )
    arguments: dict[str, Any] = {
        "embed_dim": width if rng.random() < 0.5 else 64 * rng.randint(1, 3),
        "depth": rng.randint(1, 3),
        "num_heads": 1,
    }
    if rng.random() < 0.5:
        arguments |= {"global_pool": "", "num_classes": 0}
    return raw | {"vision_config": {"model_type": "timm_wrapper", "architecture": name, "model_args": arguments}}
