"""OpenCLIP: widths that the heads of every tower divide."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Set widths to multiples of the heads, and leave out what the package has no class for."""
    for key, heads in (("text_cfg", 8), ("multimodal_cfg", 8)):
        if key in raw:
            raw[key]["width"] = raw[key].get("heads", heads) * rng.randint(1, 4)
    if "vision_cfg" in raw:
        raw["vision_cfg"] |= {"head_width": 4, "width": 4 * rng.randint(1, 6)}
    raw["embed_dim"] = raw.get("vision_cfg", {}).get("attn_pooler_heads", 8) * rng.randint(1, 4)
    return raw
