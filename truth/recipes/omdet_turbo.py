"""Random configs of OmDet-Turbo's decoder: one width, heads that divide it, and maps of any widths."""

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
    return raw | {"vision_features_channels": [rng.randint(3, 20) for _ in range(rng.randint(1, 4))]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: words and maps are of lengths of their own."""
    raise RefusedError("words and maps are of lengths of their own")
