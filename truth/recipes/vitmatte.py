"""Random configs and inputs of ViTMatte: mostly a ViTDet whose map is as small as the last of the convolutions."""

from __future__ import annotations

import random
from typing import Any

from truth import images
from truth.recipes import maskformer, vitdet


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a backbone and the convolutions beside it; the lists are drawn always, since the class does not build from its own."""
    details = images.widths(rng, rng.randint(1, 3))
    raw |= {"convstream_hidden_sizes": details, "fusion_hidden_sizes": images.widths(rng, len(details) + 1)}
    if rng.random() < 0.25:
        return raw | {"backbone_config": maskformer.backbone(rng, raw)}
    side, heads = 2 ** (len(details) + 1), rng.choice((1, 2, 4))
    inner = {"model_type": "vitdet", "patch_size": side, "num_channels": rng.choice((3, 4)), "num_attention_heads": heads}
    inner |= {"image_size": side * rng.randint(1, 4), "hidden_size": raw.setdefault("hidden_size", 24) // heads * heads or heads}
    inner = vitdet.draw(rng, inner)
    return raw | {"hidden_size": inner["hidden_size"], "backbone_config": inner}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures of the backbone's own size."""
    model.config.image_size = getattr(model.config.backbone_config, "image_size", 224)
    return images.pictures(model, lengths)
