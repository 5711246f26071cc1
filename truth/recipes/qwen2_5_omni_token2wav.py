"""Random configs of what makes waves of Qwen2.5-Omni's tokens: the lists of its convolutions."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import hifigan


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists."""
    if raw["model_type"].endswith("bigvgan"):
        raw = hifigan.draw(rng, raw)
        if "resblock_dilation_sizes" in raw:
            raw["resblock_dilation_sizes"] = [[1, 3, 5] for _ in raw["resblock_dilation_sizes"]]
    if raw["model_type"].endswith("dit") and rng.random() < 0.8:
        blocks, scale = rng.randint(2, 4), rng.randint(1, 4)
        raw |= {"enc_res2net_scale": scale, "enc_channels": [scale * rng.randint(2, 5) for _ in range(blocks - 1)]}
        # All but the first and the last block are joined with the one before the last.
        raw["enc_channels"] = [*raw["enc_channels"], sum(raw["enc_channels"][1:]) or 7]
        raw |= {"enc_kernel_sizes": [rng.choice((1, 3)) for _ in range(blocks)], "enc_dilations": [1] * blocks}
    return raw
