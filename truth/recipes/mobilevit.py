"""MobileViT's random configs: widths, dilations and patches, on maps of whole patches and not."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what both versions have, then what each has for itself."""
    raw |= {"image_size": images.picture(rng), "patch_size": rng.randint(1, 3), "conv_kernel_size": rng.choice((1, 3, 5))}
    raw |= {"output_stride": rng.choice((8, 16, 32)), "expand_ratio": rng.choice((1.0, 1.5, 3.0))}
    if raw["model_type"] == "mobilevitv2":
        raw |= {"width_multiplier": rng.choice((0.2, 0.3, 0.5, 0.75)), "n_attn_blocks": [rng.randint(1, 3) for _ in range(3)]}
        return raw | {"base_attn_unit_dims": [rng.randint(32, 90) for _ in range(3)], "ffn_multiplier": rng.randint(1, 3)}
    heads = rng.choice((1, 2, 3))
    raw |= {"num_attention_heads": heads, "hidden_sizes": images.widths(rng, 3, heads), "neck_hidden_sizes": images.widths(rng, 7)}
    return raw | {"mlp_ratio": rng.choice((1.0, 1.7, 2.5))}
