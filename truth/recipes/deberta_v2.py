"""DeBERTa-v2's random configs: DeBERTa's, with groups that divide the hidden size."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import deberta


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the norm of the relative embeddings, and mend the convolution."""
    raw = deberta.draw(rng, raw)
    if rng.random() < 0.5:
        raw["norm_rel_ebd"] = rng.choice(["none", "layer_norm", "x|layer_norm"])
    raw["conv_kernel_size"] = rng.choice([0, 1, 3, 5])
    raw["conv_groups"] = rng.choice([1, 2]) if raw.get("hidden_size", 2) % 2 == 0 else 1
    if rng.random() < 0.5:
        raw["position_buckets"] = rng.choice([-1, 3, 8])
    if rng.random() < 0.7:
        raw.pop("attention_head_size", None)
    return raw
