"""CLVP: widths that the norms over a voice can split."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a decoder whose channels make groups."""
    if raw["model_type"] == "clvp":
        inner = raw.setdefault("decoder_config", {})
        inner |= {"hidden_size": 16 * rng.choice((1, 2, 3, 6)), "num_attention_heads": rng.choice((2, 4))}
        inner |= {"num_mel_attn_blocks": rng.randint(0, 3), "feature_size": rng.randint(4, 20), "max_text_tokens": rng.randint(9, 50)}
    return raw
