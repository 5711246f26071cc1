"""Random configs of RF-DETR's vision transformer: images that windows divide, and maps handed on."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw windows, an image of mostly whole windows, and which maps are handed on."""
    windows, patch, layers, heads = rng.randint(1, 3), rng.choice((2, 4)), rng.randint(2, 5), rng.choice((1, 2))
    side = windows * patch * rng.randint(2, 4) if rng.random() < 0.9 else 27
    raw |= {"num_windows": windows, "patch_size": patch, "image_size": side, "num_hidden_layers": layers}
    raw |= {"num_attention_heads": heads, "hidden_size": 8 * heads, "mlp_ratio": rng.randint(1, 4)}
    raw["out_indices"] = sorted(rng.sample(range(layers + 1), rng.randint(1, layers)))
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures."""
    if type(model).__name__.endswith("Encoder"):
        raise RefusedError("tokens cut into windows are not made here")
    return images.pictures(model, lengths)
